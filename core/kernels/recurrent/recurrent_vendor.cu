// Recurrent networks by cuDNN: all layers and both directions in one call, weights copied into the space that it lays
// out itself. There is no dropout in there: random numbers are ours, so layers with it between them come one by one.
#include <cuda_runtime.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/device/accelerator.h"
#include "core/device/cuda/check.h"
#include "core/device/cuda/cudnn_rnn.h"
#include "core/device/cuda/launch.h"
#include "core/device/vendors.h"
#include "core/kernels/recurrent.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace cudnn;  // NOLINT: this file is about nothing else

constexpr const char* kForward = "recurrent_network";
constexpr const char* kBackward = "recurrent_network_backward";
constexpr int64_t kMostElements = INT32_MAX;  // of anything, to cuDNN
constexpr size_t kMostPlans = 1024;

RnnMode ModeOf(RecurrentMode mode) {
  switch (mode) {
    case RecurrentMode::kTanh:
      return kRnnTanh;
    case RecurrentMode::kRelu:
      return kRnnRelu;
    case RecurrentMode::kLstm:
      return kRnnLstm;
    default:
      return kRnnGru;
  }
}

/// How products may be computed. 16-bit floats multiply in tensor cores and are summed in 32 bits.
MathType MathOf(DType dtype, bool tf32) { return IsHalf(dtype) ? kTensorMath : tf32 ? kDefaultMath : kFmaMath; }

/// Where numbers of ours go in cuDNN's space, in elements of `dtype`.
struct Piece {
  size_t param;   ///< among the network's
  int64_t first;  ///< in that parameter
  int64_t count;
  int64_t at;  ///< in the space, in bytes
};

/// What of a network is made once for a thread: descriptors, and how large and where everything is.
struct Plan {
  RnnDescriptor rnn = nullptr;
  DropoutDescriptor dropout = nullptr;
  RnnDataDescriptor x = nullptr, y = nullptr;
  TensorDescriptor state = nullptr, matrix = nullptr, bias = nullptr;
  size_t weights = 0, inference_workspace = 0, training_workspace = 0, reserve = 0;
  std::vector<Piece> pieces;
  bool works = false;

  void Destroy() const {
    const RnnApi& api = RnnFunctions();
    if (rnn) (void)api.DestroyRNNDescriptor(rnn);
    if (dropout) (void)api.DestroyDropoutDescriptor(dropout);
    for (const RnnDataDescriptor data : {x, y}) {
      if (data) (void)api.DestroyRNNDataDescriptor(data);
    }
    for (const TensorDescriptor tensor : {state, matrix, bias}) {
      if (tensor) (void)api.DestroyTensorDescriptor(tensor);
    }
  }
};

/// All that plans differ by. Of the batches' sizes, those that differ and how often each comes.
std::string KeyOf(const Context& ctx, DType dtype, const RecurrentNetwork& n) {
  std::vector<int64_t> key = {ctx.device.index,
                              static_cast<int64_t>(dtype),
                              static_cast<int64_t>(n.steps.mode),
                              n.layers,
                              n.directions,
                              n.inputs,
                              n.units,
                              n.biases,
                              n.tf32};
  for (int64_t t = 0; t < n.steps.steps; ++t) {
    if (t == 0 || n.steps.batch_sizes[t] != n.steps.batch_sizes[t - 1]) {
      key.push_back(n.steps.batch_sizes[t]);
      key.push_back(0);
    }
    ++key.back();
  }
  return std::string(reinterpret_cast<const char*>(key.data()), key.size() * sizeof(int64_t));
}

/// How many steps each sequence has, the longest first.
std::vector<int> LengthsOf(const RecurrentNetwork& n) {
  std::vector<int> lengths(n.batch);
  int64_t t = n.steps.steps;
  for (int64_t row = 0; row < n.batch; ++row) {
    while (t > 0 && n.steps.batch_sizes[t - 1] <= row) --t;
    lengths[row] = static_cast<int>(t);
  }
  return lengths;
}

/// Whether all sizes are ones that cuDNN counts.
bool Counts(const RecurrentNetwork& n) {
  if (n.steps.steps < 1 || n.batch < 1 || n.inputs < 1 || n.units < 1) return false;
  const double gates = 4.0 * n.directions * n.units, widest = std::max<double>(gates, static_cast<double>(n.inputs));
  return widest * static_cast<double>(n.rows()) <= kMostElements && gates * widest <= kMostElements &&
         static_cast<double>(n.layers) * n.directions * n.batch * n.units <= kMostElements;
}

Status Describe(Handle handle, DType dtype, const RecurrentNetwork& n, Plan* plan) {
  const RnnApi& api = RnnFunctions();
  const auto size = [](int64_t value) { return static_cast<int>(value); };
  Status status = kSuccess;
  const auto next = [&](auto&& call) {
    if (status == kSuccess) status = call();
  };
  next([&] { return api.CreateDropoutDescriptor(&plan->dropout); });
  next([&] { return api.SetDropoutDescriptor(plan->dropout, handle, 0, nullptr, 0, 0); });
  next([&] { return api.CreateRNNDescriptor(&plan->rnn); });
  next([&] {
    return api.SetRNNDescriptor(plan->rnn, kStandard, ModeOf(n.steps.mode), n.biases ? kTwoBiases : kNoBiases,
                                n.directions == 2 ? kTwoDirections : kOneDirection, kMultiplied, TypeOf(dtype), kFloat,
                                MathOf(dtype, n.tf32), size(n.inputs), size(n.units), size(n.units), size(n.layers),
                                plan->dropout, 0);
  });
  const std::vector<int> lengths = LengthsOf(n);
  const auto describe = [&](RnnDataDescriptor* data, int64_t width) {
    next([&] { return api.CreateRNNDataDescriptor(data); });
    next([&] {
      return api.SetRNNDataDescriptor(*data, TypeOf(dtype), kPackedBySteps, size(n.steps.steps), size(n.batch),
                                      size(width), lengths.data(), nullptr);
    });
  };
  describe(&plan->x, n.inputs);
  describe(&plan->y, n.directions * n.units);
  for (TensorDescriptor* tensor : {&plan->state, &plan->matrix, &plan->bias}) {
    next([&] { return api.CreateTensorDescriptor(tensor); });
  }
  const int sizes[] = {size(n.layers * n.directions), size(n.batch), size(n.units)};
  const int strides[] = {sizes[1] * sizes[2], sizes[2], 1};
  next([&] { return api.SetTensorNdDescriptor(plan->state, TypeOf(dtype), 3, sizes, strides); });
  next([&] { return api.GetRNNWeightSpaceSize(handle, plan->rnn, &plan->weights); });
  size_t none = 0;
  next([&] {
    return api.GetRNNTempSpaceSizes(handle, plan->rnn, kInference, plan->x, &plan->inference_workspace, &none);
  });
  next([&] {
    return api.GetRNNTempSpaceSizes(handle, plan->rnn, kTraining, plan->x, &plan->training_workspace, &plan->reserve);
  });
  return status;
}

/// The numbers of a matrix or bias that cuDNN tells of; -1 if they have gaps, or cannot be told.
int64_t NumbersOf(TensorDescriptor described) {
  constexpr int kMostAxes = 8;
  DataType type;
  int ndim = 0, sizes[kMostAxes], strides[kMostAxes];
  if (RnnFunctions().GetTensorNdDescriptor(described, kMostAxes, &type, &ndim, sizes, strides) != kSuccess) return -1;
  int64_t numbers = 1;
  for (int axis = std::min(ndim, kMostAxes) - 1; axis >= 0; --axis) {
    if (sizes[axis] != 1 && strides[axis] != numbers) return -1;
    numbers *= sizes[axis];
  }
  return numbers;
}

/// Find the pieces in a space of weights, the products of x in the order of the gates first, then those of h: cuDNN's
/// gates are in our order. False if anything is not as expected.
bool Locate(Handle handle, const RecurrentNetwork& n, int64_t item, char* space, Plan* plan) {
  const int64_t gates = GateCount(n.steps.mode);
  const auto add = [&](size_t param, int64_t first, int64_t count, void* at, TensorDescriptor described) {
    const int64_t offset = static_cast<char*>(at) - space;
    if (!at || offset < 0 || offset + count * item > static_cast<int64_t>(plan->weights)) return false;
    if (NumbersOf(described) != count) return false;
    if (!plan->pieces.empty()) {  // what goes on where the last piece ended is a part of it
      Piece& last = plan->pieces.back();
      if (last.param == param && last.first + last.count == first && last.at + last.count * item == offset) {
        last.count += count;
        return true;
      }
    }
    plan->pieces.push_back({param, first, count, offset});
    return true;
  };
  for (int64_t place = 0; place < n.layers * n.directions; ++place) {
    const size_t begin = place * (n.biases ? 4 : 2);
    for (const bool biases : {false, true}) {
      if (biases && !n.biases) continue;
      for (int64_t product = 0; product < 2 * gates; ++product) {
        void *matrix = nullptr, *bias = nullptr;
        if (RnnFunctions().GetRNNWeightParams(handle, plan->rnn, static_cast<int32_t>(place), plan->weights, space,
                                              static_cast<int32_t>(product), plan->matrix, &matrix, plan->bias,
                                              &bias) != kSuccess) {
          return false;
        }
        const bool of_state = product >= gates;
        const int64_t width = biases ? 1 : of_state ? n.units : n.InputsOf(place / n.directions);
        const int64_t count = n.units * width, first = product % gates * count;
        const size_t param = begin + (biases ? 2 : 0) + (of_state ? 1 : 0);
        if (!add(param, first, count, biases ? bias : matrix, biases ? plan->bias : plan->matrix)) return false;
      }
    }
  }
  return true;
}

/// Plans are kept by thread, as handles are. Nothing where cuDNN does not take the network.
Plan* PlanFor(const Context& ctx, Handle handle, DType dtype, const RecurrentNetwork& n) {
  static thread_local auto* plans = new std::unordered_map<std::string, Plan>;
  const std::string key = KeyOf(ctx, dtype, n);
  auto at = plans->find(key);
  if (at == plans->end()) {
    if (CapturesUnderWay() > 0) return nullptr;  // while a graph of CUDA's is noted down, nothing may be loaded
    if (plans->size() >= kMostPlans) {
      for (const auto& [old, plan] : *plans) plan.Destroy();
      plans->clear();
    }
    Plan plan;
    plan.works = Describe(handle, dtype, n, &plan) == kSuccess;
    if (plan.works) {  // places are asked for in memory that is a space of weights, if for no longer than that
      const Scratch space = ctx.Allocate<char>(plan.weights);
      plan.works = Locate(handle, n, ItemSize(dtype), space.as<char>(), &plan);
    }
    at = plans->emplace(key, std::move(plan)).first;
  }
  return at->second.works ? &at->second : nullptr;
}

/// The plan of a network that was found to be taken before, with room for so many bytes.
Plan& KnownPlan(const char* who, const Context& ctx, Handle handle, DType dtype, const RecurrentNetwork& n,
                int64_t room) {
  Plan* const plan = Counts(n) && Usable() ? PlanFor(ctx, handle, dtype, n) : nullptr;
  if (!plan) throw NotImplementedError(who).Got("a network that cuDNN does not take").Expected("other sizes");
  if (room > 0 && static_cast<size_t>(room) < plan->reserve)
    throw ValueError(who).Got("room for ", room, " bytes").Expected("at least ", plan->reserve);
  return *plan;
}

/// Where a tensor of cells lies; nowhere, but in an LSTM.
void* CellsAt(const View& cells) { return cells.numel > 0 ? cells.data : nullptr; }

[[noreturn]] void Refuse(const char* who, Status status, Plan* plan) {
  (void)cudaGetLastError();  // what cuDNN could not launch is not for the next launch to answer for
  plan->works = false;
  throw NotImplementedError(who).Says("cuDNN: ", RnnFunctions().GetErrorString(status));
}

void Move(const Context& ctx, void* to, const void* from, int64_t bytes) {
  CheckCuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda::StreamOf(ctx)), kForward);
}

/// The weights in cuDNN's order.
Scratch Laid(const Context& ctx, const Plan& plan, std::span<const View> params) {
  Scratch space = ctx.Allocate<char>(plan.weights);
  for (const Piece& piece : plan.pieces) {
    const View& from = params[piece.param];
    const int64_t item = ItemSize(from.dtype);
    Move(ctx, space.as<char>() + piece.at, from.as<const char>() + piece.first * item, piece.count * item);
  }
  return space;
}

/// Gradients of all weights, from cuDNN's order to one after the other.
void Gather(const Context& ctx, const Plan& plan, std::span<const View> params, const Scratch& space, const View& to) {
  std::vector<int64_t> begins(params.size() + 1, 0);
  for (size_t i = 0; i < params.size(); ++i) begins[i + 1] = begins[i] + params[i].numel;
  const int64_t item = ItemSize(to.dtype);
  for (const Piece& piece : plan.pieces) {
    Move(ctx, to.as<char>() + (begins[piece.param] + piece.first) * item, space.as<const char>() + piece.at,
         piece.count * item);
  }
}

}  // namespace

template <typename T>
void RecurrentNetworkRoom(Context& ctx, int64_t* bytes, const RecurrentNetwork& network) {
  *bytes = -1;
  if (!AllowsVendorRecurrent() || !Counts(network) || !Usable()) return;
  const CudaGuard guard(ctx.device.index);
  const Plan* const plan = PlanFor(ctx, HandleFor(ctx), kDTypeOf<T>, network);
  if (plan) *bytes = std::max<int64_t>(1, static_cast<int64_t>(plan->reserve));
}

template <typename T>
void RecurrentNetworkForward(Context& ctx, const kernels::RecurrentNetworkViews& v, const RecurrentNetwork& network) {
  const CudaGuard guard(ctx.device.index);
  const Handle handle = HandleFor(ctx);
  Plan& plan = KnownPlan(kForward, ctx, handle, kDTypeOf<T>, network, v.kept.numel);
  const bool trains = v.kept.numel > 0;
  const size_t bytes = trains ? plan.training_workspace : plan.inference_workspace;
  const Scratch weights = Laid(ctx, plan, v.params), workspace = ctx.Allocate<char>(bytes);
  const Status status = RnnFunctions().RNNForward(
      handle, plan.rnn, trains ? kTraining : kInference, nullptr, plan.x, v.x.data, plan.y, v.y.data, plan.state,
      v.h0.data, v.hn.data, plan.state, CellsAt(v.c0), CellsAt(v.cn), plan.weights, weights.data(), bytes,
      workspace.data(), trains ? plan.reserve : 0, trains ? v.kept.data : nullptr);
  if (status != kSuccess) Refuse(kForward, status, &plan);
  CountVendorRecurrent();
}

template <typename T>
void RecurrentNetworkBackward(Context& ctx, const kernels::RecurrentNetworkGradients& d, View dy, View dhn, View dcn,
                              const kernels::RecurrentNetworkViews& v, const RecurrentNetwork& network) {
  const CudaGuard guard(ctx.device.index);
  const Handle handle = HandleFor(ctx);
  Plan& plan = KnownPlan(kBackward, ctx, handle, kDTypeOf<T>, network, std::max<int64_t>(1, v.kept.numel));
  const RnnApi& api = RnnFunctions();
  const Scratch weights = Laid(ctx, plan, v.params), workspace = ctx.Allocate<char>(plan.training_workspace);
  // cuDNN writes to what it kept, and gradients may be asked for again.
  const Scratch kept = ctx.Allocate<char>(v.kept.numel);
  Move(ctx, kept.data(), v.kept.data, v.kept.numel);
  Status status =
      api.RNNBackwardData(handle, plan.rnn, nullptr, plan.y, v.y.data, dy.data, plan.x, d.x.data, plan.state, v.h0.data,
                          dhn.data, d.h0.data, plan.state, CellsAt(v.c0), CellsAt(dcn), CellsAt(d.c0), plan.weights,
                          weights.data(), plan.training_workspace, workspace.data(), plan.reserve, kept.data());
  if (status != kSuccess) Refuse(kBackward, status, &plan);
  if (d.params.numel > 0) {
    CheckCuda(cudaMemsetAsync(weights.data(), 0, plan.weights, cuda::StreamOf(ctx)), kBackward);
    status = api.RNNBackwardWeights(handle, plan.rnn, kAddGradients, nullptr, plan.x, v.x.data, plan.state, v.h0.data,
                                    plan.y, v.y.data, plan.weights, weights.data(), plan.training_workspace,
                                    workspace.data(), plan.reserve, kept.data());
    if (status != kSuccess) Refuse(kBackward, status, &plan);
    Gather(ctx, plan, v.params, weights, d.params);
  }
  CountVendorRecurrent();
}

DRAGON_KERNEL(RecurrentNetworkRoom, NetworkTypes);
DRAGON_KERNEL(RecurrentNetworkForward, NetworkTypes);
DRAGON_KERNEL(RecurrentNetworkBackward, NetworkTypes);

}  // namespace dragon::DRAGON_DEVICE
