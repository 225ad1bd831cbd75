// Convolution by cuDNN: its classic interface, the algorithm by its own heuristics and kept for each shape. Only
// deterministic algorithms are taken. Activations run in the layout of the result, row-major or channels-last, weights
// in the same; what lies otherwise, or is padded unevenly, is copied first.
#include <cuda_runtime.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device/cuda/check.h"
#include "core/device/cuda/cudnn.h"
#include "core/device/cuda/timing.h"
#include "core/device/precision.h"
#include "core/device/vendors.h"
#include "core/kernels/array.h"
#include "core/kernels/convolution/vendor.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace cudnn;  // NOLINT: this file is about nothing else

/// Algorithms that want more memory than this are passed over.
constexpr size_t kMostWorkspace = size_t{1} << 30;
constexpr int64_t kMostElements = INT32_MAX;  // of a tensor, to cuDNN

/// A convolution as cuDNN has it, with two or three spatial axes. All of it is the key of a plan: no gaps in here.
struct Problem {
  int pass = 0, dtype = 0, channels_last = 0, device = 0, ndim = 0, groups = 0, tf32 = 0;
  int y[5] = {}, x[5] = {}, w[5] = {};
  int stride[3] = {}, dilation[3] = {}, padding[3] = {};

  std::string key() const { return std::string(reinterpret_cast<const char*>(this), sizeof(*this)); }
};
static_assert(sizeof(Problem) == 31 * sizeof(int));

/// What of a problem is made once. Descriptors live as long as the process.
struct Plan {
  TensorDescriptor x = nullptr, y = nullptr;
  FilterDescriptor w = nullptr;
  ConvDescriptor conv = nullptr;
  std::vector<AlgorithmPerf> candidates;  ///< the fastest first
  bool is_measured = false;
};

/// Strides of (N, C, spatial...) in row-major order, or with channels side by side.
Dims StridesIn(const Dims& shape, bool channels_last) {
  Dims strides = shape;
  int64_t step = channels_last ? shape[1] : 1;
  for (int axis = shape.size() - 1; axis >= 2; --axis) strides[axis] = step, step *= shape[axis];
  strides[1] = channels_last ? 1 : step;
  strides[0] = channels_last ? step : step * shape[1];
  return strides;
}

TensorDescriptor MakeTensor(const Problem& p, const int* sizes) {
  Dims shape;
  for (int i = 0; i < p.ndim; ++i) shape.push_back(sizes[i]);
  const Dims strides = StridesIn(shape, p.channels_last);
  int steps[5];
  for (int i = 0; i < p.ndim; ++i) steps[i] = static_cast<int>(strides[i]);
  TensorDescriptor made;
  Check(Functions().CreateTensorDescriptor(&made), "conv");
  Check(Functions().SetTensorNdDescriptor(made, TypeOf(static_cast<DType>(p.dtype)), p.ndim, sizes, steps), "conv");
  return made;
}

/// How products may be computed. 16-bit floats multiply in tensor cores and are summed in 32 bits.
MathType MathOf(DType dtype, bool tf32) {
  if (IsHalf(dtype)) return kTensorMath;
  return dtype == DType::kFloat32 && !tf32 ? kFmaMath : kDefaultMath;
}

/// Ask for algorithms, the fastest first.
Status Ask(Handle handle, const Problem& p, const Plan& plan, int asked, int* found, AlgorithmPerf* perfs) {
  const Api& api = Functions();
  switch (static_cast<ConvPass>(p.pass)) {
    case ConvPass::kForward:
      return api.GetForwardAlgorithm(handle, plan.x, plan.w, plan.conv, plan.y, asked, found, perfs);
    case ConvPass::kBackwardData:
      return api.GetBackwardDataAlgorithm(handle, plan.w, plan.y, plan.conv, plan.x, asked, found, perfs);
    case ConvPass::kBackwardWeights:
      return api.GetBackwardFilterAlgorithm(handle, plan.x, plan.y, plan.conv, plan.w, asked, found, perfs);
  }
  return kSuccess;
}

Status AskWorkspace(Handle handle, const Problem& p, const Plan& plan, int algorithm, size_t* bytes) {
  const Api& api = Functions();
  switch (static_cast<ConvPass>(p.pass)) {
    case ConvPass::kForward:
      return api.GetForwardWorkspaceSize(handle, plan.x, plan.w, plan.conv, plan.y, algorithm, bytes);
    case ConvPass::kBackwardData:
      return api.GetBackwardDataWorkspaceSize(handle, plan.w, plan.y, plan.conv, plan.x, algorithm, bytes);
    case ConvPass::kBackwardWeights:
      return api.GetBackwardFilterWorkspaceSize(handle, plan.x, plan.y, plan.conv, plan.w, algorithm, bytes);
  }
  return kSuccess;
}

Plan MakePlan(Handle handle, const Problem& p) {
  const Api& api = Functions();
  const auto dtype = static_cast<DType>(p.dtype);
  Plan plan;
  plan.x = MakeTensor(p, p.x);
  plan.y = MakeTensor(p, p.y);
  Check(api.CreateFilterDescriptor(&plan.w), "conv");
  Check(api.SetFilterNdDescriptor(plan.w, TypeOf(dtype), p.channels_last ? kNhwc : kNchw, p.ndim, p.w), "conv");
  Check(api.CreateConvolutionDescriptor(&plan.conv), "conv");
  Check(api.SetConvolutionNdDescriptor(plan.conv, p.ndim - 2, p.padding, p.stride, p.dilation, kCrossCorrelation,
                                       dtype == DType::kFloat64 ? kDouble : kFloat),
        "conv");
  Check(api.SetConvolutionGroupCount(plan.conv, p.groups), "conv");
  const MathType math = MathOf(dtype, p.tf32 != 0);
  Check(api.SetConvolutionMathType(plan.conv, math), "conv");
  constexpr int kAsked = 8;
  AlgorithmPerf perfs[kAsked];
  int found = 0;
  if (Ask(handle, p, plan, kAsked, &found, perfs) != kSuccess) return plan;
  for (int i = 0; i < found; ++i) {
    AlgorithmPerf perf = perfs[i];
    if (perf.status != kSuccess || perf.determinism == kNonDeterministic) continue;
    if (math == kFmaMath) perf.math = kFmaMath;  // whatever is proposed, the digits stay
    if (api.SetConvolutionMathType(plan.conv, perf.math) != kSuccess) continue;
    if (AskWorkspace(handle, p, plan, perf.algorithm, &perf.memory) != kSuccess || perf.memory > kMostWorkspace)
      continue;
    plan.candidates.push_back(perf);
  }
  return plan;
}

/// Plans are kept by thread, as handles are.
Plan& PlanFor(Handle handle, const Problem& p) {
  constexpr size_t kMostPlans = 4096;
  static thread_local auto* plans = new std::unordered_map<std::string, Plan>;
  if (plans->size() >= kMostPlans) {
    for (auto& [key, plan] : *plans) {
      (void)Functions().DestroyTensorDescriptor(plan.x);
      (void)Functions().DestroyTensorDescriptor(plan.y);
      (void)Functions().DestroyFilterDescriptor(plan.w);
      (void)Functions().DestroyConvolutionDescriptor(plan.conv);
    }
    plans->clear();
  }
  const auto [at, is_new] = plans->try_emplace(p.key());
  if (is_new) at->second = MakePlan(handle, p);
  return at->second;
}

Status Execute(Handle handle, const Problem& p, const Plan& plan, const AlgorithmPerf& perf, void* y, void* x, void* w,
               bool accumulate, void* workspace) {
  const Api& api = Functions();
  // The factors are doubles for doubles, and floats for all others.
  const float ones[] = {1, accumulate ? 1.0f : 0.0f};
  const double wide_ones[] = {1, accumulate ? 1.0 : 0.0};
  const bool wide = static_cast<DType>(p.dtype) == DType::kFloat64;
  const void* alpha = wide ? static_cast<const void*>(wide_ones) : ones;
  const void* beta = wide ? static_cast<const void*>(wide_ones + 1) : ones + 1;
  if (const Status status = api.SetConvolutionMathType(plan.conv, perf.math); status != kSuccess) return status;
  switch (static_cast<ConvPass>(p.pass)) {
    case ConvPass::kForward:
      return api.Forward(handle, alpha, plan.x, x, plan.w, w, plan.conv, perf.algorithm, workspace, perf.memory, beta,
                         plan.y, y);
    case ConvPass::kBackwardData:
      return api.BackwardData(handle, alpha, plan.w, w, plan.y, y, plan.conv, perf.algorithm, workspace, perf.memory,
                              beta, plan.x, x);
    case ConvPass::kBackwardWeights:
      return api.BackwardFilter(handle, alpha, plan.x, x, plan.y, y, plan.conv, perf.algorithm, workspace, perf.memory,
                                beta, plan.w, w);
  }
  return kSuccess;
}

/// One tensor in the layout that cuDNN is told of, and with `shape`, whose zeros go `before` the given elements and
/// after them: as it lies, or in memory of its own.
class Laid {
 public:
  Laid(Context& ctx, const View& given, const Dims& shape, const Dims& before, bool channels_last, bool is_output)
      : ctx_(ctx), given_(given), shape_(shape), strides_(StridesIn(shape, channels_last)), is_output_(is_output) {
    bool as_it_lies = true;
    for (int axis = 0; axis < given.ndim; ++axis) {
      as_it_lies = as_it_lies && shape[axis] == given.shape[axis] && before[axis] == 0 &&
                   (shape[axis] == 1 || given.strides[axis] == strides_[axis]);
      common_.push_back(std::max<int64_t>(0, std::min(given.shape[axis], shape[axis] - before[axis])));
      begin_ += before[axis] * strides_[axis];
      numel_ *= shape[axis];
      given_fits_ = given_fits_ && common_[axis] == given.shape[axis];
      fills_ = fills_ && common_[axis] == shape[axis];
    }
    if (as_it_lies) return;
    copy_.emplace(ctx.Allocate<char>(numel_ * ItemSize(given.dtype)));
    if (is_output) return;
    if (!fills_) CheckCuda(cudaMemsetAsync(copy_->data(), 0, numel_ * ItemSize(given.dtype), Stream()), "conv");
    Copy(/*back=*/false);
  }
  Laid(const Laid&) = delete;
  Laid& operator=(const Laid&) = delete;

  char* data() const { return copy_ ? copy_->as<char>() : given_.as<char>(); }
  int64_t numel() const { return numel_; }
  /// Bytes from one picture to the next.
  int64_t picture() const { return numel_ / shape_[0] * ItemSize(given_.dtype); }
  /// Bring a result to where it was wanted.
  void Finish() {
    if (!copy_ || !is_output_) return;
    // Elements that no window saw; results are dense.
    if (!given_fits_)
      CheckCuda(cudaMemsetAsync(given_.data, 0, given_.numel * ItemSize(given_.dtype), Stream()), "conv");
    Copy(/*back=*/true);
  }

 private:
  cudaStream_t Stream() const { return static_cast<cudaStream_t>(ctx_.stream); }
  void Copy(bool back) const {
    const int64_t item = ItemSize(given_.dtype);
    const OwnedView inside(copy_->as<char>() + begin_ * item, given_.dtype, common_, strides_);
    const OwnedView outside(given_.data, given_.dtype, common_, Dims(given_.strides, given_.ndim));
    if (inside.view.numel == 0) return;
    kernels::Copy(ctx_, given_.dtype, back ? outside.view : inside.view, back ? inside.view : outside.view);
  }

  Context& ctx_;
  View given_;
  Dims shape_, strides_, common_;
  int64_t begin_ = 0, numel_ = 1;
  bool is_output_, given_fits_ = true, fills_ = true;
  std::optional<Scratch> copy_;
};

/// 1 if channels lie side by side, 0 if the tensor is in another order, -1 if it has but one place or one channel.
int LikesChannelsLast(const View& x) {
  if (x.shape[1] == 1 || x.numel == x.shape[0] * x.shape[1]) return -1;
  return x.strides[1] == 1;
}

/// Shape and padding of x that cuDNN's formula for the size of y agrees with.
struct Reach {
  Dims shape, before;              ///< of x, where it has to be padded by us
  int64_t padding[3] = {0, 0, 0};  ///< what is left to cuDNN

  Reach(const View& y, const View& x, const View& w, const ConvGeometry& g)
      : shape(x.shape, x.ndim), before(Dims::Filled(x.ndim, 0)) {
    bool even = true;
    int64_t reach[3];
    for (int i = 0; i < g.spatial; ++i) {
      reach[i] = (w.shape[2 + i] - 1) * g.dilation[i] + 1;
      const int64_t room = x.shape[2 + i] + 2 * g.padding[i] - reach[i];
      even = even && room >= 0 && room / g.stride[i] + 1 == y.shape[2 + i];
      padding[i] = g.padding[i];
    }
    if (even) return;
    for (int i = 0; i < g.spatial; ++i) {
      shape[2 + i] = (y.shape[2 + i] - 1) * g.stride[i] + reach[i];
      before[2 + i] = g.padding[i];
      padding[i] = 0;
    }
  }
};

/// Sizes as cuDNN has them: at least two spatial axes, the last of ours the last. False if they are too large.
bool TakeSizes(const int64_t* sizes, int count, int64_t filler, int* to) {
  const int missing = count == 1 ? 1 : 0;
  if (missing) to[0] = static_cast<int>(filler);
  for (int i = 0; i < count; ++i) {
    if (sizes[i] > kMostElements) return false;
    to[missing + i] = static_cast<int>(sizes[i]);
  }
  return true;
}
bool TakeShape(const int64_t* shape, int spatial, int* to) {
  return TakeSizes(shape, 2, 0, to) && TakeSizes(shape + 2, spatial, 1, to + 2);
}

bool Describe(Problem* p, const View& y, const Reach& x, const View& w, const ConvGeometry& g) {
  p->ndim = 2 + std::max(g.spatial, 2);
  p->groups = static_cast<int>(g.groups);
  return g.groups <= kMostElements && TakeShape(y.shape, g.spatial, p->y) &&
         TakeShape(x.shape.data(), g.spatial, p->x) && TakeShape(w.shape, g.spatial, p->w) &&
         TakeSizes(g.stride, g.spatial, 1, p->stride) && TakeSizes(g.dilation, g.spatial, 1, p->dilation) &&
         TakeSizes(x.padding, g.spatial, 0, p->padding);
}

/// Put the candidates into the order of the times that they take here. Results are written, and written again.
void Measure(Context& ctx, Handle handle, const Problem& p, Plan* plan, void* y, void* x, void* w) {
  constexpr int kRounds = 3;  // and one before, in which kernels are loaded
  plan->is_measured = true;
  if (plan->candidates.size() < 2) return;
  for (AlgorithmPerf& perf : plan->candidates) {
    const Scratch workspace = ctx.Allocate<char>(perf.memory);
    const auto once = [&] { perf.status = Execute(handle, p, *plan, perf, y, x, w, false, workspace.data()); };
    once();
    perf.time = perf.status == kSuccess ? cuda::LeastMilliseconds(ctx, kRounds, once) : 0;
  }
  std::erase_if(plan->candidates, [](const AlgorithmPerf& perf) { return perf.status != kSuccess; });
  std::ranges::stable_sort(plan->candidates, {}, &AlgorithmPerf::time);
}

/// Run with the first algorithm that agrees to. False if none does.
bool Run(Context& ctx, Handle handle, const Problem& p, void* y, void* x, void* w, bool accumulate) {
  Plan& plan = PlanFor(handle, p);
  if (MeasuresVendors() && !plan.is_measured && !accumulate && cuda::MayBeTimed(ctx)) {
    Measure(ctx, handle, p, &plan, y, x, w);
  }
  while (!plan.candidates.empty()) {
    const AlgorithmPerf& best = plan.candidates.front();
    const Scratch workspace = ctx.Allocate<char>(best.memory);
    if (Execute(handle, p, plan, best, y, x, w, accumulate, workspace.data()) == kSuccess) return true;
    plan.candidates.erase(plan.candidates.begin());
  }
  return false;
}

bool Try(Context& ctx, ConvPass pass, const View& y, const View& x, const View& w, const ConvGeometry& g,
         bool channels_last) {
  const Reach reach(y, x, w, g);
  Problem problem;
  if (!Describe(&problem, y, reach, w, g)) return false;
  problem.pass = static_cast<int>(pass);
  problem.dtype = static_cast<int>(x.dtype);
  problem.channels_last = channels_last;
  problem.device = ctx.device.index;
  problem.tf32 = ConvolutionsAllowTf32();
  // cuDNN counts elements in 32 bits: large batches go some pictures at a time.
  int64_t picture = y.numel / y.shape[0], x_picture = 1;
  for (int axis = 1; axis < x.ndim; ++axis) {
    if (__builtin_mul_overflow(x_picture, reach.shape[axis], &x_picture)) return false;
  }
  picture = std::max(picture, x_picture);
  if (picture > kMostElements || w.numel > kMostElements) return false;
  const int64_t batch = x.shape[0], step = std::min(batch, kMostElements / picture);
  const Handle handle = HandleFor(ctx);
  for (const int64_t pictures : {step, batch % step}) {
    if (pictures == 0) continue;
    problem.x[0] = problem.y[0] = static_cast<int>(pictures);
    if (PlanFor(handle, problem).candidates.empty()) return false;
  }
  const Dims none = Dims::Filled(x.ndim, 0);
  Laid laid_x(ctx, x, reach.shape, reach.before, channels_last, pass == ConvPass::kBackwardData);
  Laid laid_y(ctx, y, Dims(y.shape, y.ndim), none, channels_last, pass == ConvPass::kForward);
  Laid laid_w(ctx, w, Dims(w.shape, w.ndim), none, channels_last, pass == ConvPass::kBackwardWeights);
  for (int64_t n = 0; n < batch; n += step) {
    problem.x[0] = problem.y[0] = static_cast<int>(std::min(step, batch - n));
    const bool accumulate = pass == ConvPass::kBackwardWeights && n > 0;
    if (!Run(ctx, handle, problem, laid_y.data() + n * laid_y.picture(), laid_x.data() + n * laid_x.picture(),
             laid_w.data(), accumulate)) {
      return false;
    }
  }
  laid_y.Finish();
  laid_x.Finish();
  laid_w.Finish();
  return true;
}

}  // namespace

bool ConvVendor(Context& ctx, ConvPass pass, const View& y, const View& x, const View& w,
                const ConvGeometry& geometry) {
  if (!AllowsVendorConvolution() || !Usable()) return false;
  const CudaGuard guard(ctx.device.index);
  int last = LikesChannelsLast(pass == ConvPass::kForward ? y : x);
  const int other = LikesChannelsLast(pass == ConvPass::kForward ? x : y);
  if (last < 0 || (pass == ConvPass::kBackwardWeights && other == 1)) last = other;
  const bool channels_last = last == 1;
  return Try(ctx, pass, y, x, w, geometry, channels_last) || Try(ctx, pass, y, x, w, geometry, !channels_last);
}

}  // namespace dragon::DRAGON_DEVICE
