// Kernels that order and search. NaN counts as the largest number, -0 and +0 as equal; ties keep their order of coming.
// Indices are int64. Any strides will do unless a line says otherwise.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// Sort along `axis`, stably (NaN comes first when descending). `values` and `indices` are each optional.
inline const Kernel<void(View values, View indices, View x, int axis, bool descending)> Sort{"sort"};
/// The k = values.dim(axis) largest or smallest elements along `axis`, best first.
inline const Kernel<void(View values, View indices, View x, int axis, bool largest)> TopK{"topk"};
/// The k-th smallest element (k from 1) along `axis`; values and indices have size 1 there.
inline const Kernel<void(View values, View indices, View x, int axis, int64_t k)> KthValue{"kthvalue"};
/// The lower median along `axis`; a NaN in a line is its median, unless `ignore_nan` leaves NaNs out.
inline const Kernel<void(View values, View indices, View x, int axis, bool ignore_nan)> Median{"median"};
/// The most frequent value along `axis`, the smallest of equals, and its last place.
inline const Kernel<void(View values, View indices, View x, int axis)> Mode{"mode"};

/// Group equal rows of contiguous x (n by m): all of them if `sorted`, else neighbours only. `order` (n) lists the rows
/// group by group in ascending order, `group` (n) is the group of each row, `starts` (n + 1) is where each group begins
/// in `order`, `count` how many groups there are. A NaN equals nothing.
inline const Kernel<void(View order, View group, View starts, int64_t* count, View x, bool sorted)> Unique{"unique"};

/// The place of each value in its sorted line (1-d `edges` serve all lines), contiguous operands; `sorter` is optional.
inline const Kernel<void(View y, View edges, View values, View sorter, bool right)> SearchSorted{"searchsorted"};
/// y[x[i]] += weights[i], or 1; x is int64 and 1-d, y is written whole. Keyed by the dtype of y.
inline const Kernel<void(View y, View x, View weights)> Bincount{"bincount"};
/// The least and the largest of int64 x (0 elements: 0 and -1).
inline const Kernel<void(int64_t* least, int64_t* largest, View x)> IndexRange{"index_range"};
/// y[j] = how many x lie in [edges[j], edges[j + 1]), the last bin closed; contiguous. `weights` is optional.
inline const Kernel<void(View y, View x, View edges, View weights)> Histogram{"histogram"};
/// The same for bins of one width between two numbers.
inline const Kernel<void(View y, View x, double low, double high)> Histc{"histc"};
/// y = x is one of tests (not one if `invert`); contiguous operands, y is bool.
inline const Kernel<void(View y, View x, View tests, bool invert)> IsIn{"isin"};

}  // namespace dragon::kernels
