// The interpreter behind the profiler.
#include "core/framework/profile.h"

#include <ctime>
#include <memory>

namespace dragon {

namespace {

class Profile final : public Interpreter {
 public:
  Profile(bool with_shapes, std::function<std::string()> where) : where_(std::move(where)), with_shapes_(with_shapes) {
    Enter();
  }
  ~Profile() override { Leave(); }
  bool passes_whole() const override { return true; }
  Tensors Handle(const Call& call, std::span<const Tensor> outs) override {
    std::string where = Where();  // before the clock starts: asking takes longer than many calls
    const int64_t start = ProfileClock();
    Tensors results = Through(call, outs);
    ProfileEvent event{call.name(), start, ProfileClock(), false, 0, {}, std::move(where)};
    for (const Tensor& y : results) event.bytes += y.defined() ? y.numel() * y.item_size() : 0;
    if (with_shapes_) {
      for (const Tensor& x : call.inputs) event.shapes.push_back(x.defined() ? x.shape() : Dims{});
    }
    events.push_back(std::move(event));
    return results;
  }
  std::string Where() const { return where_ ? where_() : std::string(); }
  std::vector<ProfileEvent> events;

 private:
  std::function<std::string()> where_;
  bool with_shapes_;
};

std::unique_ptr<Profile>& Mine() {
  thread_local std::unique_ptr<Profile> profile;
  return profile;
}

}  // namespace

int64_t ProfileClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

void StartProfile(bool with_shapes, std::function<std::string()> where) {
  if (Mine()) throw RuntimeError("profile").Says("this thread is profiled already");
  Mine() = std::make_unique<Profile>(with_shapes, std::move(where));
}

std::vector<ProfileEvent> StopProfile() {
  if (!Mine()) throw RuntimeError("profile").Says("this thread is not being profiled");
  std::vector<ProfileEvent> events = std::move(Mine()->events);
  Mine().reset();
  return events;
}

bool IsProfiling() { return static_cast<bool>(Mine()); }

std::string ProfilePlace() { return Mine() ? Mine()->Where() : std::string(); }

void AddProfileEvent(ProfileEvent event) {
  if (Mine()) Mine()->events.push_back(std::move(event));
}

}  // namespace dragon
