// The largest or least of the numbers of each row, each times a row of a dense matrix, on CUDA: a thread for every
// column of every row.
#include "core/kernels/sparse/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {
namespace {

/// The first of equal numbers stays, and so does a NaN.
template <typename T>
struct FindExtreme {
  CompressedRows matrix;
  const T *values, *dense;
  T* y;
  int64_t* which;
  int64_t width;
  bool least;
  __device__ void operator()(int64_t i) const {
    using W = Wide<T>;
    const int64_t row = i / width, column = i - row * width;
    int64_t begin, end, from = -1;
    matrix.Row(row, &begin, &end);
    W best = W(0);
    for (int64_t k = begin; k < end; ++k) {
      const int64_t place = matrix.places[k];
      if (!matrix.Has(place)) continue;
      const W product =
          static_cast<W>(static_cast<T>(static_cast<W>(values[k]) * static_cast<W>(dense[place * width + column])));
      const bool beats = least ? product < best : product > best;
      if (from < 0 || beats || (product != product && best == best)) best = product, from = k;
    }
    y[i] = static_cast<T>(best);
    which[i] = from;
  }
};

}  // namespace

template <typename T>
void RowsExtreme(Context& ctx, View y, View which, View starts, View places, View values, View dense, bool least) {
  const CompressedRows matrix(ctx, "rows_extreme", starts, places, dense.shape[0]);
  CheckRows(ctx, "rows_extreme", matrix);
  const int64_t width = dense.shape[1];
  LaunchOver(
      "rows_extreme", ctx, matrix.rows * width,
      FindExtreme<T>{matrix, values.as<const T>(), dense.as<const T>(), y.as<T>(), which.as<int64_t>(), width, least});
}
DRAGON_KERNEL(RowsExtreme, Real);

}  // namespace dragon::DRAGON_DEVICE
