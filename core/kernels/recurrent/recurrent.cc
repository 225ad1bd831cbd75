// A recurrent layer step by step: a small product for the hidden part of the gates, then all gates at once.
//
// Rows of a batch never meet within a layer, so each thread takes its rows through all steps, and no step waits for
// another thread. What sums over rows, the gradients of the weights, is one large product at the end.
#include "core/kernels/recurrent.h"

#include <algorithm>
#include <optional>

#include "core/device/parallel.h"
#include "core/kernels/matmul.h"
#include "core/kernels/recurrent/cells.h"
#include "core/kernels/recurrent/product.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Sizes of one call, and the steps in the order they are taken.
struct Layer {
  RecurrentMode mode;
  int64_t rows, batch, units, outputs, gates;

  Layer(const View& y, const View& h0, const RecurrentWeights& weights, const RecurrentSteps& steps)
      : mode(steps.mode),
        rows(y.shape[0]),
        batch(h0.shape[0]),
        units(weights.hidden.shape[0] / GateCount(steps.mode)),
        outputs(weights.hidden.shape[1]),
        gates(weights.hidden.shape[0]) {}

  /// Rows of a batch per thread: below, weights are read too often for what they do.
  int64_t Grain() const {
    constexpr double kWorkPerThread = 200000;
    constexpr int64_t kFewest = 4;
    const double work = static_cast<double>(rows) * gates * outputs;
    if (work < 2 * kWorkPerThread) return batch;
    return std::max(kFewest, static_cast<int64_t>(batch * (kWorkPerThread / work)));
  }
};

/// y (m, n) = a^T @ b for a (k, m) and b (k, n): a weight's gradient over all steps at once.
template <typename T>
void ProductOverRows(Context& ctx, int64_t m, int64_t n, int64_t k, const T* a, const T* b, const View& y) {
  const OwnedView left(const_cast<T*>(a), kDTypeOf<T>, {m, k}, {1, m}),
      right(const_cast<T*>(b), kDTypeOf<T>, {k, n}, {n, 1});
  kernels::Matmul(ctx, kDTypeOf<T>, y, left.view, right.view, View{}, MatmulPost{});
}

int64_t RowGrain(int64_t units) { return std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(units, 1)); }

template <typename T>
void Copy(const T* from, int64_t count, T* to) {
  std::copy(from, from + count, to);
}

/// The gradient of a projection: of dprojected and of what the units gave, which is computed anew.
template <typename T>
void ProjectionGradient(Context& ctx, const Layer& layer, const T* dprojected, const T* gates, const T* cells,
                        const View& dprojection) {
  const int64_t units = layer.units;
  const Scratch raw = ctx.Allocate<T>(layer.rows * units);
  ParallelFor(layer.rows, RowGrain(units), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T *o = gates + (4 * i + 3) * units, *c = cells + i * units;
      T* out = raw.as<T>() + i * units;
#pragma omp simd
      for (int64_t j = 0; j < units; ++j) out[j] = o[j] * libm::Tanh(c[j]);
    }
  });
  ProductOverRows<T>(ctx, layer.outputs, units, layer.rows, dprojected, raw.as<const T>(), dprojection);
}

}  // namespace

template <typename T>
void Recurrent(Context& ctx, View y, View hn, View cn, View gates, View cells, View gates_x, View h0, View c0,
               const RecurrentWeights& weights, const RecurrentSteps& steps) {
  const Layer layer(y, h0, weights, steps);
  const int64_t units = layer.units, outputs = layer.outputs;
  // The states live in hn and cn: rows of sequences that have ended, or not begun, stay as they are.
  T* h = hn.as<T>();
  T* c = layer.mode == RecurrentMode::kLstm ? cn.as<T>() : nullptr;
  Copy(h0.as<const T>(), h0.numel, h);
  if (c) Copy(c0.as<const T>(), c0.numel, c);
  const Scratch hidden_scratch = ctx.Allocate<T>(layer.batch * layer.gates);
  const Scratch raw_scratch = ctx.Allocate<T>(weights.projection ? layer.batch * units : 0);
  T *hidden = hidden_scratch.as<T>(), *raw = weights.projection ? raw_scratch.as<T>() : h;
  const PackedWeights<T> recurrent(ctx, {weights.hidden.as<const T>(), 1, outputs}, outputs, layer.gates);
  std::optional<PackedWeights<T>> projection;
  if (weights.projection)
    projection.emplace(ctx, Matrix<const T>{weights.projection.as<const T>(), 1, units}, units, outputs);
  const T* bias = weights.bias ? weights.bias.as<const T>() : nullptr;
  ParallelFor(layer.batch, layer.Grain(), [&](int64_t begin, int64_t batch_end) {
    const int64_t most = batch_end - begin;
    const Scratch scratch = ctx.Allocate<typename TileOf<T>::Real>(
        std::max(recurrent.ScratchSize(most), projection ? projection->ScratchSize(most) : 0));
    auto* const panel = scratch.template as<typename TileOf<T>::Real>();
    steps.ForEach(/*forward=*/true, [&](int64_t first, int64_t rows) {
      const int64_t end = std::min(batch_end, rows);
      if (begin >= end) return;
      recurrent.Multiply(end - begin, h + begin * outputs, bias, 0, hidden + begin * layer.gates, panel);
      for (int64_t i = begin; i < end; ++i) {
        const T *x = gates_x.as<const T>() + (first + i) * layer.gates, *part = hidden + i * layer.gates;
        T* saved = gates.as<T>() + (first + i) * SavedCount(layer.mode) * units;
        if (layer.mode == RecurrentMode::kLstm) {
          LstmRow(units, x, part, c + i * units, raw + i * units, saved, cells.as<T>() + (first + i) * units);
        } else if (layer.mode == RecurrentMode::kGru) {
          GruRow(units, x, part, raw + i * units, saved);
        } else {
          PlainRow(units, layer.mode == RecurrentMode::kRelu, x, part, raw + i * units);
        }
      }
      if (projection) projection->Multiply(end - begin, raw + begin * units, nullptr, 0, h + begin * outputs, panel);
      Copy(h + begin * outputs, (end - begin) * outputs, y.as<T>() + (first + begin) * outputs);
    });
  });
}

namespace {

/// For every row, the state its step began with: from the step before in `states`, or from the first state.
template <typename T>
Scratch StatesBefore(const Context& ctx, const Layer& layer, const RecurrentSteps& steps, int64_t width,
                     const T* states, const T* first_state) {
  Scratch before = ctx.Allocate<T>(layer.rows * width);
  const Scratch scratch = ctx.Allocate<T>(layer.batch * width);
  T* now = scratch.as<T>();
  Copy(first_state, layer.batch * width, now);
  steps.ForEach(/*forward=*/true, [&](int64_t first, int64_t rows) {
    Copy(now, rows * width, before.as<T>() + first * width);
    Copy(states + first * width, rows * width, now);
  });
  return before;
}

template <typename T>
void SumRows(int64_t rows, int64_t width, const T* x, T* sums) {
  std::fill(sums, sums + width, T(0));
  ParallelFor(width, std::max<int64_t>(64, kGrain / std::max<int64_t>(rows, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < rows; ++i) {
#pragma omp simd
      for (int64_t j = begin; j < end; ++j) sums[j] += x[i * width + j];
    }
  });
}

}  // namespace

template <typename T>
void RecurrentBackward(Context& ctx, const kernels::RecurrentGradients& d, View dy, View dhn, View dcn, View y,
                       View gates, View cells, View h0, View c0, const RecurrentWeights& weights,
                       const RecurrentSteps& steps) {
  const Layer layer(y, h0, weights, steps);
  const int64_t units = layer.units, outputs = layer.outputs, rows_all = layer.rows;
  const bool lstm = layer.mode == RecurrentMode::kLstm, gru = layer.mode == RecurrentMode::kGru;
  const Scratch h_before = StatesBefore<T>(ctx, layer, steps, outputs, y.as<const T>(), h0.as<const T>());
  const Scratch c_before = StatesBefore<T>(ctx, layer, steps, lstm ? units : 0, cells.as<const T>(), c0.as<const T>());
  // In a GRU the hidden part of the candidate has a gradient of its own; elsewhere both parts share one.
  const Scratch own_hidden = ctx.Allocate<T>(gru ? rows_all * layer.gates : 0);
  T *dgates = d.gates_x.as<T>(), *dhidden = gru ? own_hidden.as<T>() : dgates;
  const Scratch draw = ctx.Allocate<T>(weights.projection ? layer.batch * units : 0);
  const Scratch dprojected = ctx.Allocate<T>(weights.projection ? rows_all * outputs : 0);
  T* dh = d.h0.as<T>();
  T* dc = lstm ? d.c0.as<T>() : nullptr;
  Copy(dhn.as<const T>(), dhn.numel, dh);
  if (lstm) Copy(dcn.as<const T>(), dcn.numel, dc);
  const PackedWeights<T> recurrent(ctx, {weights.hidden.as<const T>(), outputs, 1}, layer.gates, outputs);
  std::optional<PackedWeights<T>> projection;
  const Matrix<const T> projecting{weights.projection.as<const T>(), units, 1};
  if (weights.projection) projection.emplace(ctx, projecting, outputs, units);
  const auto through_cell = [&](int64_t row, T* dunits, T* dcell) {
    const T* saved = gates.as<const T>() + row * SavedCount(layer.mode) * units;
    T* dgate = dgates + row * layer.gates;
    if (lstm) {
      const T *cell = cells.as<const T>() + row * units, *before = c_before.as<const T>() + row * units;
      LstmRowBackward(units, saved, cell, before, dunits, dcell, dgate);
    } else if (gru) {
      GruRowBackward(units, saved, h_before.as<const T>() + row * units, dunits, dgate, dhidden + row * layer.gates);
    } else {
      PlainRowBackward(units, layer.mode == RecurrentMode::kRelu, y.as<const T>() + row * units, dunits, dgate);
    }
  };
  ParallelFor(layer.batch, layer.Grain(), [&](int64_t begin, int64_t batch_end) {
    const int64_t most = batch_end - begin;
    const Scratch scratch = ctx.Allocate<typename TileOf<T>::Real>(
        std::max(recurrent.ScratchSize(most), projection ? projection->ScratchSize(most) : 0));
    auto* const panel = scratch.template as<typename TileOf<T>::Real>();
    steps.ForEach(/*forward=*/false, [&](int64_t first, int64_t rows) {
      const int64_t end = std::min(batch_end, rows);
      if (begin >= end) return;
      const T* dy_rows = dy.as<const T>() + first * outputs;
      for (int64_t i = begin * outputs; i < end * outputs; ++i) dh[i] += dy_rows[i];
      T* dunits = dh;
      if (projection) {
        dunits = draw.as<T>();
        Copy(dh + begin * outputs, (end - begin) * outputs, dprojected.as<T>() + (first + begin) * outputs);
        projection->Multiply(end - begin, dh + begin * outputs, nullptr, 0, dunits + begin * units, panel);
      }
      for (int64_t i = begin; i < end; ++i)
        through_cell(first + i, dunits + i * units, lstm ? dc + i * units : nullptr);
      recurrent.Multiply(end - begin, dhidden + (first + begin) * layer.gates, nullptr, gru ? 1 : 0,
                         dh + begin * outputs, panel);
    });
  });
  if (d.hidden) ProductOverRows<T>(ctx, layer.gates, outputs, rows_all, dhidden, h_before.as<const T>(), d.hidden);
  if (d.bias) SumRows<T>(rows_all, layer.gates, dhidden, d.bias.as<T>());
  if (d.projection) ProjectionGradient(ctx, layer, dprojected.as<T>(), gates.as<T>(), cells.as<T>(), d.projection);
}

DRAGON_KERNEL(Recurrent, Singles);
DRAGON_KERNEL(RecurrentBackward, Singles);

}  // namespace dragon::DRAGON_DEVICE
