// Attention by cuDNN, whose kernels use what only the newest processors have. It compiles a kernel for each shape,
// which takes a part of a second: only calls large enough to earn that go there, and only so many shapes.
#include <cuda_runtime.h>

#include <cstdio>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/device/accelerator.h"
#include "core/device/cuda/check.h"
#include "core/device/cuda/launch.h"
#include "core/device/vendors.h"
#include "core/kernels/array.h"
#include "core/kernels/attention/graphs_cudnn.h"
#include "core/kernels/attention/vendor.h"

namespace dragon::DRAGON_DEVICE::attention {

namespace {

using namespace cudnn;  // NOLINT: this file is about nothing else

/// Older ones get gradients wrong where the number of keys is no multiple of 128.
constexpr size_t kLeastVersion = 91501;
#if defined(DRAGON_SIMT)  // where a stand-in compiles nothing
constexpr double kLeastWork = 1;
constexpr int64_t kLeastQueries = 1, kWorkspace = 1 << 17;
#else
/// Multiplications and additions of a call that earns a plan: about ten microseconds of a processor's time.
constexpr double kLeastWork = 1 << 30;
/// Fewer are steps of a generation, with another number of keys each.
constexpr int64_t kLeastQueries = 64;
/// The backward pass keeps the gradients of scores: of so many samples, or heads, at once that they take these bytes,
constexpr int64_t kWorkspace = int64_t{1} << 28;
#endif
/// but for a head that takes more by itself; and one of more than these is left to our own kernels.
constexpr int64_t kMostWorkspace = int64_t{1} << 30;
/// Compiled plans of a thread are kept for good: a graph of CUDA's may hold their kernels.
constexpr size_t kMostPlans = 128;
constexpr int64_t kMostWidth = 256, kMostElements = INT32_MAX;
/// The newest processors on which the gradients' graph is known to be summed in one order.
constexpr int kLastGeneration = 9;

/// sums = most + log_sum: log(sum(exp(scores))) of each query, as cuDNN keeps it. Without a mask no query has seen
/// nothing, and no score is so large that the two must stay apart.
__global__ void JoinSums(float* sums, const float* most, const float* log_sum, int64_t n) {
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) sums[i] = most[i] + log_sum[i];
}

/// Rows that begin at multiples of sixteen bytes and have no gaps within, each in a place of its own.
bool Takes(const View& x) {
  const int64_t width = x.shape[3];
  if (width % 8 != 0 || width > kMostWidth || x.strides[3] != 1) return false;
  if (reinterpret_cast<uintptr_t>(x.data) % 16 != 0) return false;
  int64_t end = width;
  for (int axis = 0; axis < 3; ++axis) {
    if (x.shape[axis] == 1) continue;
    int64_t reach;
    if (x.strides[axis] <= 0 || x.strides[axis] % 8 != 0) return false;
    if (__builtin_mul_overflow(x.shape[axis] - 1, x.strides[axis], &reach) || reach > kMostElements) return false;
    end += reach;
  }
  return end <= kMostElements;
}

/// Whether the cuDNN that was found can be trusted with attention; one that cannot is told once.
bool IsNewEnough() {
  static const bool enough = [] {
    if (Version() >= kLeastVersion) return true;
    std::fprintf(stderr, "dragon: attention keeps Dragon's own kernels: found cuDNN %zu, expected %zu or later\n",
                 Version(), kLeastVersion);
    return false;
  }();
  return enough;
}

bool Takes(const Operands& o) {
  // Beside no elements at all there is no work, either.
  const double work = 2.0 * o.most.numel * o.k.shape[2] * (o.q.shape[3] + o.v.shape[3]);
  if (o.mask || work < kLeastWork || o.q.shape[2] < kLeastQueries || !AllowsVendorAttention()) return false;
  return Takes(o.q) && Takes(o.k) && Takes(o.v) && Takes(o.y) && Usable() && IsNewEnough();
}

/// Some samples and query heads of a call: all heads, unless it is one sample.
struct Share {
  int64_t sample = 0, head = 0, samples, heads;
};

Axes SizesOf(const View& x, int64_t samples, int64_t heads) { return {samples, heads, x.shape[2], x.shape[3]}; }

/// Strides; those of axes with one place mean nothing, and are made up to look like the others.
Axes StepsOf(const View& x, const Axes& sizes) {
  Axes steps = {};
  if (!x) return steps;
  const Axes packed = RowMajor(sizes);
  for (int axis = 0; axis < 4; ++axis) steps[axis] = x.shape[axis] == 1 ? packed[axis] : x.strides[axis];
  return steps;
}

AttentionProblem ProblemOf(const Context& ctx, const Operands& o, const AttentionOptions& options, const Share& share) {
  const int64_t key_heads = share.heads / (o.q.shape[1] / o.k.shape[1]);
  AttentionProblem p;
  p.device = ctx.device.index;
  p.dtype = TypeOf(o.q.dtype);
  p.backward = static_cast<bool>(o.dq);
  p.causal = options.causal;
  p.q = SizesOf(o.q, share.samples, share.heads);
  p.k = SizesOf(o.k, share.samples, key_heads);
  p.v = SizesOf(o.v, share.samples, key_heads);
  p.y = SizesOf(o.y, share.samples, share.heads);
  p.q_steps = StepsOf(o.q, p.q), p.dq_steps = StepsOf(o.dq, p.q);
  p.k_steps = StepsOf(o.k, p.k), p.dk_steps = StepsOf(o.dk, p.k);
  p.v_steps = StepsOf(o.v, p.v), p.dv_steps = StepsOf(o.dv, p.v);
  p.y_steps = StepsOf(o.y, p.y), p.dy_steps = StepsOf(o.dy, p.y);
  return p;
}

/// A plan, and whether it can be run.
struct Kept {
  Plan plan;
  bool works;
};

Kept Compile(Handle handle, const AttentionProblem& p) {
  if (p.backward && Generation(static_cast<int>(p.device)) > kLastGeneration) return {Plan(), false};
  Plan plan = AttentionGraph(p).Build(handle, kMostWorkspace);
  const bool works = static_cast<bool>(plan);
  return {std::move(plan), works};
}

/// Plans are kept by thread, as handles are. Nothing where there is none.
Kept* PlanFor(Handle handle, const AttentionProblem& p) {
  static thread_local auto* plans = new std::unordered_map<std::string, Kept>;
  const std::string key = p.key();
  auto at = plans->find(key);
  if (at == plans->end()) {
    // While a graph of CUDA's is noted down, nothing may be loaded.
    if (plans->size() >= kMostPlans || CapturesUnderWay() > 0) return nullptr;
    at = plans->emplace(key, Compile(handle, p)).first;
  }
  return at->second.works ? &at->second : nullptr;
}

/// An operand from a sample and a query head on.
void* From(const View& x, const Operands& o, const Share& share) {
  const int64_t head = share.head / (o.q.shape[1] / x.shape[1]);
  return x.as<char>() + (share.sample * x.strides[0] + head * x.strides[1]) * ItemSize(x.dtype);
}

bool Run(Context& ctx, Handle handle, const Operands& o, const AttentionOptions& options, const Share& share,
         float* sums, float* meetings) {
  Kept* const kept = PlanFor(handle, ProblemOf(ctx, o, options, share));
  if (!kept) return false;
  float scale = static_cast<float>(options.scale), never = -std::numeric_limits<float>::infinity(), one = 1;
  std::vector<int64_t> ids = {kQ, kK, kV, kY, kSums, kScale};
  std::vector<void*> data = {
      From(o.q, o, share), From(o.k, o, share), From(o.v, o, share), From(o.y, o, share), sums, &scale};
  if (options.causal) ids.push_back(kNever), data.push_back(&never);
  if (o.dq) {
    ids.insert(ids.end(), {kDy, kDq, kDk, kDv, kMeetings, kOne});
    data.insert(data.end(), {From(o.dy, o, share), From(o.dq, o, share), From(o.dk, o, share), From(o.dv, o, share),
                             static_cast<void*>(meetings), static_cast<void*>(&one)});
  }
  const Scratch workspace = ctx.Allocate<char>(kept->plan.workspace());
  if (kept->plan.Run(handle, ids, data, workspace.data()) == kSuccess) return true;
  (void)cudaGetLastError();  // what cuDNN could not launch is not for the next launch to answer for
  kept->works = false;
  return false;
}

/// How many samples, or query heads of one sample, have their gradients computed together.
Share ShareOf(const Operands& o) {
  const int64_t batch = o.q.shape[0], heads = o.q.shape[1], sharing = heads / o.k.shape[1];
  // As cuDNN rounds them up: tiles of 64 queries and 128 keys.
  const double queries = (o.q.shape[2] + 63) / 64 * 64.0, keys = (o.k.shape[2] + 127) / 128 * 128.0;
  const auto fit = static_cast<int64_t>(kWorkspace / (2 * queries * keys));
  if (fit >= heads) return {0, 0, std::min(batch, fit / heads), heads};
  return {0, 0, 1, std::min(heads, std::max<int64_t>(1, fit / sharing) * sharing)};
}

/// Call `run` for each share of a call, until one fails; there are at most two sizes of them.
template <typename Body>
bool ForShares(const Operands& o, const Share& step, const Body& run) {
  for (int64_t sample = 0; sample < o.q.shape[0]; sample += step.samples) {
    for (int64_t head = 0; head < o.q.shape[1]; head += step.heads) {
      const Share share{sample, head, std::min(step.samples, o.q.shape[0] - sample),
                        std::min(step.heads, o.q.shape[1] - head)};
      if (!run(share)) return false;
    }
  }
  return true;
}

}  // namespace

bool ForwardByVendor(Context& ctx, const Operands& o, const AttentionOptions& options) {
  if (!Takes(o)) return false;
  const CudaGuard guard(ctx.device.index);
  const Share all{0, 0, o.q.shape[0], o.q.shape[1]};
  if (!Run(ctx, HandleFor(ctx), o, options, all, o.most.as<float>(), nullptr)) return false;
  CheckCuda(cudaMemsetAsync(o.log_sum.data, 0, o.log_sum.numel * sizeof(float), cuda::StreamOf(ctx)), "attention");
  CountVendorAttention();
  return true;
}

bool BackwardByVendor(Context& ctx, const Operands& given, const AttentionOptions& options) {
  Operands o = given;
  if (!Takes(o) || !Takes(o.dq) || !Takes(o.dk) || !Takes(o.dv)) return false;
  const CudaGuard guard(ctx.device.index);
  const Handle handle = HandleFor(ctx);
  // The gradient that comes in may lie in any way, as one number for all, say.
  std::optional<Scratch> copy;
  std::optional<OwnedView> laid;
  if (!Takes(o.dy)) {
    const Dims shape(o.dy.shape, o.dy.ndim);
    const Axes packed = RowMajor({shape[0], shape[1], shape[2], shape[3]});
    copy.emplace(ctx.Allocate<char>(o.dy.numel * ItemSize(o.dy.dtype)));
    laid.emplace(copy->data(), o.dy.dtype, shape, Dims(packed.data(), o.dy.ndim));
    o.dy = laid->view;
  }
  const Share step = ShareOf(o);
  const bool known = ForShares(
      o, step, [&](const Share& share) { return PlanFor(handle, ProblemOf(ctx, o, options, share)) != nullptr; });
  if (!known) return false;
  if (laid) kernels::Copy(ctx, o.dy.dtype, o.dy, given.dy);
  const int64_t queries = o.q.shape[2], most_rows = step.samples * step.heads * queries;
  const Scratch sums = ctx.Allocate<float>(most_rows), meetings = ctx.Allocate<float>(most_rows);
  const bool done = ForShares(o, step, [&](const Share& share) {
    const int64_t first = (share.sample * o.q.shape[1] + share.head) * queries;
    const int64_t count = share.samples * share.heads * queries;
    cuda::Launch("attention_backward", ctx, &JoinSums, cuda::GridFor(count), sums.as<float>(),
                 o.most.as<float>() + first, o.log_sum.as<float>() + first, count);
    return Run(ctx, handle, o, options, share, sums.as<float>(), meetings.as<float>());
  });
  if (done) CountVendorAttention();
  return done;
}

}  // namespace dragon::DRAGON_DEVICE::attention
