// What kernels over compressed rows share on CUDA: starts and places that lead nowhere are noted, and skipped.
#pragma once

#include <algorithm>

#include "core/device/cuda/block.h"
#include "core/kernels/index/order_cuda.h"
#include "core/kernels/sparse.h"

namespace dragon::DRAGON_DEVICE {

/// A matrix in compressed rows: `count` numbers, at places below `size`.
struct CompressedRows {
  const int64_t *starts, *places;
  int64_t rows, count, size;
  cuda::Faults faults;

  CompressedRows(const Context& ctx, const char* who, const View& the_starts, const View& the_places, int64_t the_size)
      : starts(the_starts.as<const int64_t>()),
        places(the_places.as<const int64_t>()),
        rows(the_starts.numel - 1),
        count(the_places.numel),
        size(the_size),
        faults(cuda::FaultsOf(ctx, who)) {}

  /// Where a row begins and ends, within the numbers that there are.
  __device__ __forceinline__ void Row(int64_t i, int64_t* begin, int64_t* end) const {
    *begin = max(int64_t{0}, min(starts[i], count));
    *end = max(*begin, min(starts[i + 1], count));
  }
  __device__ __forceinline__ bool Has(int64_t place) const {
    return static_cast<uint64_t>(place) < static_cast<uint64_t>(size);
  }
  /// The row that number k is in; whatever starts may say, one that there is.
  __device__ int64_t RowOf(int64_t k) const {
    int64_t low = 0, high = rows;  // the last row that begins at k or before
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (starts[middle] <= k ? low : high) = middle;
    }
    return low;
  }
};

/// Notes what is wrong with starts and places.
struct CheckRow {
  CompressedRows matrix;
  __device__ void operator()(int64_t i) const {
    if (i <= matrix.rows) {
      const int64_t start = matrix.starts[i];
      const bool leads = i == 0 ? start == 0 : matrix.starts[i - 1] <= start;
      if (!leads || (i == matrix.rows && start != matrix.count)) {
        matrix.faults.Report(cuda::FaultKind::kStarts, start, matrix.count);
      }
    }
    if (i < matrix.count && !matrix.Has(matrix.places[i])) {
      matrix.faults.Report(cuda::FaultKind::kPlace, matrix.places[i], matrix.size);
    }
  }
};

inline void CheckRows(const Context& ctx, const char* who, const CompressedRows& matrix) {
  LaunchOver(who, ctx, std::max(matrix.rows + 1, matrix.count), CheckRow{matrix});
}

}  // namespace dragon::DRAGON_DEVICE
