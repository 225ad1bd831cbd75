// What ran when: an interpreter that notes the time of every call of its thread, and of every node of the backward
// pass.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/framework/apply.h"

namespace dragon {

/// One call. Times are nanoseconds of the system's monotonic clock.
struct ProfileEvent {
  std::string name;
  int64_t start, end;
  bool is_node;              ///< a node of the backward pass; else an operator
  int64_t bytes;             ///< of the results
  std::vector<Dims> shapes;  ///< of the inputs, if asked for
  std::string where;         ///< in the program, if asked for
};

/// Note the calls of this thread from now on, and where they stand if `where` tells. A RuntimeError if they are noted
/// already.
DRAGON_API void StartProfile(bool with_shapes, std::function<std::string()> where = nullptr);
DRAGON_API std::vector<ProfileEvent> StopProfile();
DRAGON_API bool IsProfiling();
DRAGON_API int64_t ProfileClock();
/// Where this thread's program stands, if its profile asks for that.
DRAGON_API std::string ProfilePlace();
DRAGON_API void AddProfileEvent(ProfileEvent event);

/// Notes the time of a scope as a node's, if this thread is profiled. `name` is only called then.
template <typename Name>
class ProfileScope {
 public:
  explicit ProfileScope(Name name) : name_(std::move(name)) {
    if (!IsProfiling()) return;
    where_ = ProfilePlace();  // asked here, where Python may raise an error
    start_ = ProfileClock();
  }
  ~ProfileScope() {
    if (start_) AddProfileEvent({name_(), start_, ProfileClock(), true, 0, {}, std::move(where_)});
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  Name name_;
  int64_t start_ = 0;
  std::string where_;
};

}  // namespace dragon
