// Reductions and scans. In every reduction y has x's rank, with size 1 along reduced axes; any strides will do.
// The dtype a kernel is looked up by is x's.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// y is int64 for bool and integers, else x's dtype. No elements: 0.
inline const Kernel<void(View y, View x)> Sum{"sum"};
/// As Sum; NaN counts as 0.
inline const Kernel<void(View y, View x)> NanSum{"nansum"};
/// As Sum; no elements: 1.
inline const Kernel<void(View y, View x)> Prod{"prod"};
/// Floating and complex only; no elements: NaN.
inline const Kernel<void(View y, View x)> Mean{"mean"};
/// y is int64.
inline const Kernel<void(View y, View x)> CountNonzero{"count_nonzero"};
/// y is bool (or uint8): 1 if any element is not zero.
inline const Kernel<void(View y, View x)> Any{"any"};
/// y is bool (or uint8): 1 if no element is zero.
inline const Kernel<void(View y, View x)> All{"all"};
/// Largest and smallest; NaN wins. The operator refuses empty reductions.
inline const Kernel<void(View y, View x)> Amax{"amax"};
inline const Kernel<void(View y, View x)> Amin{"amin"};
/// With the first position of it, counted in row-major order of the reduced axes. `y` may be absent; `index` has y's
/// strides.
inline const Kernel<void(View y, View index, View x)> ArgMax{"argmax"};
inline const Kernel<void(View y, View index, View x)> ArgMin{"argmin"};
/// sum |x - mean|^2 / max(0, count - correction); its square root with `root`. `mean` may be absent, else has y's
/// strides.
inline const Kernel<void(View y, View mean, View x, double correction, bool root)> Var{"var"};
/// (sum |x|^p)^(1/p), also for p of 0, inf and -inf. y has x's real dtype.
inline const Kernel<void(View y, View x, double p)> Norm{"norm"};
/// log(sum(exp(x))) without overflow. No elements: -inf.
inline const Kernel<void(View y, View x)> LogSumExp{"logsumexp"};

/// Scans along one axis; y has x's shape. Sum and product are looked up by y's dtype, to which x is cast beforehand.
inline const Kernel<void(View y, View x, int axis)> CumSum{"cumsum"};
inline const Kernel<void(View y, View x, int axis)> CumProd{"cumprod"};
inline const Kernel<void(View y, View x, int axis)> LogCumSumExp{"logcumsumexp"};
/// y[k] = b[k] + a[k] * y[k - 1], from 0; all three row-major.
inline const Kernel<void(View y, View a, View b, int axis)> LinearScan{"linear_scan"};
/// `index` (int64) tells where the running extreme stands (the last of equals, as PyTorch has it).
inline const Kernel<void(View y, View index, View x, int axis)> CumMax{"cummax"};
inline const Kernel<void(View y, View index, View x, int axis)> CumMin{"cummin"};

}  // namespace dragon::kernels
