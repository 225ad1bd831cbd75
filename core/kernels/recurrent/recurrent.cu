// A recurrent layer step by step on CUDA: a product for the hidden part of the gates, then one launch for everything
// pointwise. What sums over rows, the gradients of the weights, is one large product at the end.
#include <algorithm>

#include "core/device/cuda/launch.h"
#include "core/kernels/matmul.h"
#include "core/kernels/recurrent.h"
#include "core/kernels/recurrent/cells.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Sizes of one call, and the products of its steps.
struct Layer {
  Context& ctx;
  DType dtype;
  RecurrentMode mode;
  int64_t rows, batch, units, outputs, gates;

  Layer(Context& the_ctx, const View& y, const View& h0, const RecurrentWeights& weights, const RecurrentSteps& steps)
      : ctx(the_ctx),
        dtype(y.dtype),
        mode(steps.mode),
        rows(y.shape[0]),
        batch(h0.shape[0]),
        units(weights.hidden.shape[0] / GateCount(steps.mode)),
        outputs(weights.hidden.shape[1]),
        gates(weights.hidden.shape[0]) {}

  /// y (m, n) = beta * y + a (m, k) @ b (k, n), with b's strides given; the others lie row by row.
  void Multiply(void* y, const void* a, const void* b, int64_t m, int64_t n, int64_t k, bool b_turned,
                double beta = 0) const {
    const OwnedView to(y, dtype, {m, n}, {n, 1}), left(const_cast<void*>(a), dtype, {m, k}, {k, 1});
    const OwnedView right(const_cast<void*>(b), dtype, {k, n}, b_turned ? Dims{1, k} : Dims{n, 1});
    MatmulPost post;
    post.beta = beta;
    kernels::Matmul(ctx, dtype, to.view, left.view, right.view, View{}, post);
  }
  /// y (m, n) = a^T @ b for a (rows, m) and b (rows, n): a weight's gradient over all steps at once.
  void MultiplyOverRows(const View& y, const void* a, const void* b, int64_t m, int64_t n) const {
    const OwnedView left(const_cast<void*>(a), dtype, {m, rows}, {1, m});
    const OwnedView right(const_cast<void*>(b), dtype, {rows, n}, {n, 1});
    kernels::Matmul(ctx, dtype, y, left.view, right.view, View{}, MatmulPost{});
  }
  void Copy(void* to, const void* from, int64_t count) const {
    if (count == 0) return;
    CheckCuda(cudaMemcpyAsync(to, from, count * ItemSize(dtype), cudaMemcpyDeviceToDevice, cuda::StreamOf(ctx)),
              "recurrent");
  }
  cuda::Grid GridOver(int64_t count) const { return cuda::GridFor(count, 128); }
};

/// The rows of one step. x is the inputs' part of the gates and hidden the states' part, without the bias; h is where
/// units put what they give, and y where it goes as well.
template <typename T>
struct StepRows {
  RecurrentMode mode;
  int64_t rows, units;
  const T *x, *hidden, *bias;
  T *h, *c, *y, *gates, *cells;
};

template <typename T>
__global__ void StepKernel(const StepRows<T> s) {
  const int64_t units = s.units, gate_count = GateCount(s.mode), saved_count = SavedCount(s.mode);
  for (int64_t at = cuda::FirstOfThread(); at < s.rows * units; at += cuda::StepOfThreads()) {
    const int64_t row = at / units, j = at - row * units;
    const T *x = s.x + row * gate_count * units + j, *hidden = s.hidden + row * gate_count * units + j;
    T* gates = s.gates + row * saved_count * units + j;
    const auto part = [&](int64_t gate) {
      const T own = hidden[gate * units];
      return s.bias ? own + s.bias[gate * units + j] : own;
    };
    T h;
    if (s.mode == RecurrentMode::kLstm) {
      const LstmUnit<T> u =
          LstmStep(x[0] + part(0), x[units] + part(1), x[2 * units] + part(2), x[3 * units] + part(3), s.c[at]);
      gates[0] = u.i, gates[units] = u.f, gates[2 * units] = u.g, gates[3 * units] = u.o;
      s.c[at] = s.cells[at] = u.cell;
      h = u.h;
    } else if (s.mode == RecurrentMode::kGru) {
      const GruUnit<T> u = GruStep(x[0] + part(0), x[units] + part(1), x[2 * units], part(2), s.h[at]);
      gates[0] = u.r, gates[units] = u.z, gates[2 * units] = u.candidate, gates[3 * units] = u.hidden;
      h = u.h;
    } else {
      h = PlainStep(s.mode == RecurrentMode::kRelu, x[0] + part(0));
    }
    s.h[at] = h;
    if (s.y) s.y[at] = h;
  }
}

/// The same against the steps. dh holds the gradient of what units gave; in a GRU what flows past the gates stays
/// there.
template <typename T>
struct StepRowsBackward {
  RecurrentMode mode;
  int64_t rows, units;
  const T *gates, *cells, *c_before, *h_before, *y;
  T *dh, *dc, *dgates, *dhidden;
};

template <typename T>
__global__ void StepBackwardKernel(const StepRowsBackward<T> s) {
  const int64_t units = s.units, gate_count = GateCount(s.mode), saved_count = SavedCount(s.mode);
  for (int64_t at = cuda::FirstOfThread(); at < s.rows * units; at += cuda::StepOfThreads()) {
    const int64_t row = at / units, j = at - row * units, to = row * gate_count * units + j;
    const T* gates = s.gates + row * saved_count * units + j;
    T* dgates = s.dgates + to;
    if (s.mode == RecurrentMode::kLstm) {
      const LstmUnit<T> u{gates[0], gates[units], gates[2 * units], gates[3 * units], s.cells[at], T(0)};
      const LstmSlopes<T> d = LstmStepBackward(u, s.c_before[at], s.dh[at], s.dc[at]);
      dgates[0] = d.i, dgates[units] = d.f, dgates[2 * units] = d.g, dgates[3 * units] = d.o;
      s.dc[at] = d.c_before;
    } else if (s.mode == RecurrentMode::kGru) {
      const GruUnit<T> u{gates[0], gates[units], gates[2 * units], gates[3 * units], T(0)};
      const GruSlopes<T> d = GruStepBackward(u, s.h_before[at], s.dh[at]);
      T* dhidden = s.dhidden + to;
      dgates[0] = dhidden[0] = d.r;
      dgates[units] = dhidden[units] = d.z;
      dgates[2 * units] = d.x;
      dhidden[2 * units] = d.hidden;
      s.dh[at] = d.h_before;
    } else {
      dgates[0] = PlainStepBackward(s.mode == RecurrentMode::kRelu, s.y[at], s.dh[at]);
    }
  }
}

/// y[i] += x[i], which is copied to `sum` as well where that is given.
template <typename T>
__global__ void AddKernel(int64_t count, const T* x, T* y, T* sum) {
  for (int64_t i = cuda::FirstOfThread(); i < count; i += cuda::StepOfThreads()) {
    const T value = y[i] + x[i];
    y[i] = value;
    if (sum) sum[i] = value;
  }
}

/// out (rows, units) = o * tanh(cell), what the units gave before they were projected.
template <typename T>
__global__ void GivenKernel(int64_t rows, int64_t units, const T* gates, const T* cells, T* out) {
  for (int64_t at = cuda::FirstOfThread(); at < rows * units; at += cuda::StepOfThreads()) {
    const int64_t row = at / units;
    out[at] = gates[(4 * row + 3) * units + (at - row * units)] * libm::Tanh(cells[at]);
  }
}

/// Copies that go on where the last one ended are made at once: all steps of one size are one copy.
class Joined {
 public:
  Joined(const Layer& layer, char* to) : layer_(layer), to_(to) {}
  void Add(int64_t to, const char* from, int64_t count) {
    const int64_t item = ItemSize(layer_.dtype);
    if (count_ && (to != first_ + count_ || from != from_ + count_ * item)) Flush();
    if (count_ == 0) first_ = to, from_ = from;
    count_ += count;
  }
  void Flush() {
    layer_.Copy(to_ + first_ * ItemSize(layer_.dtype), from_, count_);
    count_ = 0;
  }

 private:
  const Layer& layer_;
  char* to_;
  const char* from_ = nullptr;
  int64_t first_ = 0, count_ = 0;
};

/// For every row, the state its step began with: from the step before in `states`, or from the first state.
Scratch StatesBefore(const Layer& layer, const RecurrentSteps& steps, int64_t width, const View& states,
                     const View& first_state) {
  const int64_t item = ItemSize(layer.dtype);
  Scratch before = layer.ctx.Allocate<char>(layer.rows * width * item);
  if (width == 0) return before;
  Joined copies(layer, before.as<char>());
  int64_t last_first = 0, last_rows = 0;
  steps.ForEach(/*forward=*/true, [&](int64_t first, int64_t rows) {
    const int64_t known = std::min(rows, last_rows);  // sequences that begin here have their first state
    if (known) copies.Add(first * width, states.as<const char>() + last_first * width * item, known * width);
    if (known < rows) {
      copies.Add((first + known) * width, first_state.as<const char>() + known * width * item, (rows - known) * width);
    }
    last_first = first, last_rows = rows;
  });
  copies.Flush();
  return before;
}

template <typename T>
T* DataOf(const View& view) {
  return view ? view.as<T>() : nullptr;
}

}  // namespace

template <typename T>
void Recurrent(Context& ctx, View y, View hn, View cn, View gates, View cells, View gates_x, View h0, View c0,
               const RecurrentWeights& weights, const RecurrentSteps& steps) {
  const Layer layer(ctx, y, h0, weights, steps);
  const int64_t units = layer.units, outputs = layer.outputs;
  const bool lstm = layer.mode == RecurrentMode::kLstm, projects = static_cast<bool>(weights.projection);
  // The states live in hn and cn: rows of sequences that have ended, or not begun, stay as they are.
  layer.Copy(hn.data, h0.data, h0.numel);
  if (lstm) layer.Copy(cn.data, c0.data, c0.numel);
  const Scratch hidden = ctx.Allocate<T>(layer.batch * layer.gates);
  const Scratch raw = ctx.Allocate<T>(projects ? layer.batch * units : 0);
  steps.ForEach(/*forward=*/true, [&](int64_t first, int64_t rows) {
    if (rows * units == 0) return;
    layer.Multiply(hidden.data(), hn.data, weights.hidden.data, rows, layer.gates, outputs, /*b_turned=*/true);
    const StepRows<T> step{layer.mode,
                           rows,
                           units,
                           gates_x.as<const T>() + first * layer.gates,
                           hidden.as<const T>(),
                           DataOf<const T>(weights.bias),
                           projects ? raw.as<T>() : hn.as<T>(),
                           lstm ? cn.as<T>() : nullptr,
                           projects ? nullptr : y.as<T>() + first * outputs,
                           gates.as<T>() + first * SavedCount(layer.mode) * units,
                           lstm ? cells.as<T>() + first * units : nullptr};
    cuda::Launch("recurrent", ctx, &StepKernel<T>, layer.GridOver(rows * units), step);
    if (!projects) return;
    layer.Multiply(hn.data, raw.data(), weights.projection.data, rows, outputs, units, /*b_turned=*/true);
    layer.Copy(y.as<T>() + first * outputs, hn.data, rows * outputs);
  });
}

template <typename T>
void RecurrentBackward(Context& ctx, const kernels::RecurrentGradients& d, View dy, View dhn, View dcn, View y,
                       View gates, View cells, View h0, View c0, const RecurrentWeights& weights,
                       const RecurrentSteps& steps) {
  const Layer layer(ctx, y, h0, weights, steps);
  const int64_t units = layer.units, outputs = layer.outputs;
  const bool lstm = layer.mode == RecurrentMode::kLstm, gru = layer.mode == RecurrentMode::kGru;
  const bool projects = static_cast<bool>(weights.projection);
  const Scratch h_before = StatesBefore(layer, steps, gru || d.hidden ? outputs : 0, y, h0);
  const Scratch c_before = StatesBefore(layer, steps, lstm ? units : 0, cells, c0);
  // In a GRU the hidden part of the candidate has a gradient of its own; elsewhere both parts share one.
  const Scratch own_hidden = ctx.Allocate<T>(gru ? layer.rows * layer.gates : 0);
  T *dgates = d.gates_x.as<T>(), *dhidden = gru ? own_hidden.as<T>() : dgates, *dh = d.h0.as<T>();
  const Scratch draw = ctx.Allocate<T>(projects ? layer.batch * units : 0);
  const Scratch dprojected = ctx.Allocate<T>(projects ? layer.rows * outputs : 0);
  layer.Copy(dh, dhn.data, dhn.numel);
  if (lstm) layer.Copy(d.c0.data, dcn.data, dcn.numel);
  steps.ForEach(/*forward=*/false, [&](int64_t first, int64_t rows) {
    if (rows * units == 0) return;
    cuda::Launch("recurrent_backward", ctx, &AddKernel<T>, layer.GridOver(rows * outputs), rows * outputs,
                 dy.as<const T>() + first * outputs, dh, projects ? dprojected.as<T>() + first * outputs : nullptr);
    if (projects) layer.Multiply(draw.data(), dh, weights.projection.data, rows, units, outputs, /*b_turned=*/false);
    const StepRowsBackward<T> step{layer.mode,
                                   rows,
                                   units,
                                   gates.as<const T>() + first * SavedCount(layer.mode) * units,
                                   lstm ? cells.as<const T>() + first * units : nullptr,
                                   c_before.as<const T>() + (lstm ? first * units : 0),
                                   h_before.as<const T>() + (gru ? first * units : 0),
                                   y.as<const T>() + first * outputs,
                                   projects ? draw.as<T>() : dh,
                                   lstm ? d.c0.as<T>() : nullptr,
                                   dgates + first * layer.gates,
                                   dhidden + first * layer.gates};
    cuda::Launch("recurrent_backward", ctx, &StepBackwardKernel<T>, layer.GridOver(rows * units), step);
    layer.Multiply(dh, dhidden + first * layer.gates, weights.hidden.data, rows, outputs, layer.gates,
                   /*b_turned=*/false, gru ? 1 : 0);
  });
  if (d.hidden) layer.MultiplyOverRows(d.hidden, dhidden, h_before.data(), layer.gates, outputs);
  if (d.bias) {
    const OwnedView all(dhidden, layer.dtype, {layer.rows, layer.gates}, {layer.gates, 1});
    const OwnedView sums(d.bias.data, layer.dtype, {1, layer.gates}, {layer.gates, 1});
    kernels::Sum(ctx, layer.dtype, sums.view, all.view);
  }
  if (!d.projection) return;
  const Scratch given = ctx.Allocate<T>(layer.rows * units);
  if (layer.rows > 0 && units > 0) {
    cuda::Launch("recurrent_backward", ctx, &GivenKernel<T>, layer.GridOver(layer.rows * units), layer.rows, units,
                 gates.as<const T>(), cells.as<const T>(), given.as<T>());
  }
  layer.MultiplyOverRows(d.projection, dprojected.data(), given.data(), outputs, units);
}

DRAGON_KERNEL(Recurrent, Singles);
DRAGON_KERNEL(RecurrentBackward, Singles);

}  // namespace dragon::DRAGON_DEVICE
