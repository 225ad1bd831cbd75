// Plans of cuFFT, made once and kept while they are among the last used. They own no work area: each call has its own,
// of the caching allocator.
#pragma once

#include <algorithm>
#include <array>
#include <list>
#include <mutex>

#include "core/device/cuda/cufft.h"
#include "core/device/cuda/launch.h"

namespace dragon::DRAGON_DEVICE {

/// Transforms of up to three neighbouring axes: (..., n, inner) elements, of which `stride` lie between neighbours and
/// `distance` between transforms.
struct FftLayout {
  int rank = 1;
  std::array<int64_t, 3> in{}, out{}, n{};  ///< sizes in memory, and of the transform
  int64_t stride = 1, in_distance = 0, out_distance = 0, batch = 1;
  cuda::cufft::Numbers from{}, to{};
  int device = 0;

  bool operator==(const FftLayout&) const = default;
};

class FftPlans {
 public:
  static FftPlans& Get() {
    static auto* plans = new FftPlans;  // never destroyed: the driver may be gone before static destructors run
    return *plans;
  }

  /// Transform x to y on the context's stream. Plans are used by one thread at a time, as cuFFT asks for.
  void Run(const Context& ctx, const FftLayout& layout, void* y, void* x, bool forward) {
    using cuda::cufft::Check;
    const auto& api = cuda::cufft::Api::Get();
    std::lock_guard<std::mutex> lock(mutex_);
    const Plan& plan = Find(layout);
    const Scratch work = ctx.Allocate<char>(static_cast<int64_t>(std::max<size_t>(plan.work, 16)));
    Check(api.set_stream(plan.handle, cuda::StreamOf(ctx)), "fft");
    Check(api.set_work_area(plan.handle, work.data()), "fft");
    Check(api.execute(plan.handle, x, y, forward ? cuda::cufft::kForward : cuda::cufft::kInverse), "fft");
  }

 private:
  static constexpr size_t kKept = 256;

  struct Plan {
    FftLayout layout;
    cuda::cufft::Handle handle = 0;
    size_t work = 0;
  };

  const Plan& Find(const FftLayout& layout) {
    for (auto plan = plans_.begin(); plan != plans_.end(); ++plan) {
      if (!(plan->layout == layout)) continue;
      plans_.splice(plans_.begin(), plans_, plan);  // the last used is the first
      return plans_.front();
    }
    const Plan plan = Make(layout);
    if (plans_.size() == kKept) {
      cuda::cufft::Check(cuda::cufft::Api::Get().destroy(plans_.back().handle), "fft");
      plans_.pop_back();
    }
    plans_.push_front(plan);
    return plans_.front();
  }
  static Plan Make(const FftLayout& layout) {
    using cuda::cufft::Check;
    using cuda::cufft::Long;
    using cuda::cufft::Numbers;
    const auto& api = cuda::cufft::Api::Get();
    Plan plan;
    plan.layout = layout;
    Long n[3], in[3], out[3];
    for (int i = 0; i < 3; ++i) n[i] = layout.n[i], in[i] = layout.in[i], out[i] = layout.out[i];
    const bool doubles = layout.from == Numbers::kDouble || layout.from == Numbers::kComplexDouble;
    Check(api.create(&plan.handle), "fft");
    const auto result = [&] {
      if (const auto bad = api.set_auto_allocation(plan.handle, 0)) return bad;
      return api.make_plan(plan.handle, layout.rank, n, in, layout.stride, layout.in_distance, layout.from, out,
                           layout.stride, layout.out_distance, layout.to, layout.batch, &plan.work,
                           doubles ? Numbers::kComplexDouble : Numbers::kComplexFloat);
    }();
    if (result != 0) (void)api.destroy(plan.handle);
    Check(result, "fft: make a plan");
    return plan;
  }

  std::mutex mutex_;
  std::list<Plan> plans_;
};

}  // namespace dragon::DRAGON_DEVICE
