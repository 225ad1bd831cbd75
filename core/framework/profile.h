// What ran when: an interpreter that notes the time of every call of its thread, and of every node of the backward
// pass.
#pragma once

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
};

/// Note the calls of this thread from now on. A RuntimeError if they are noted already.
DRAGON_API void StartProfile(bool with_shapes);
DRAGON_API std::vector<ProfileEvent> StopProfile();
DRAGON_API bool IsProfiling();
DRAGON_API int64_t ProfileClock();
DRAGON_API void AddProfileEvent(ProfileEvent event);

/// Notes the time of a scope as a node's, if this thread is profiled. `name` is only called then.
template <typename Name>
class ProfileScope {
 public:
  explicit ProfileScope(Name name) : name_(std::move(name)), start_(IsProfiling() ? ProfileClock() : 0) {}
  ~ProfileScope() {
    if (start_) AddProfileEvent({name_(), start_, ProfileClock(), true, 0, {}});
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  Name name_;
  int64_t start_;
};

}  // namespace dragon
