// Small words that the operators of matrix products share.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/matmul.h"

namespace dragon::products {

/// Products do not promote: mixing dtypes by accident costs more than saying so.
inline void CheckSameDType(const CallReader& c) {
  const Tensor& first = c.x(0);
  for (int i = 1; i < c.x_count(); ++i) {
    if (!c.has(i) || c.x(i).dtype() == first.dtype()) continue;
    throw TypeError(c.name()).Got(first.dtype(), " and ", c.x(i).dtype()).Expected("equal dtypes");
  }
}

inline void CheckRank(const CallReader& c, ArgumentName name, int rank) {
  if (c.x(name).ndim() == rank) return;
  throw ValueError(c.name())
      .Got("shape ", c.x(name).shape(), " for argument ", name.text)
      .Expected(rank, rank == 1 ? " axis" : " axes");
}

inline Tensor ConjOf(const Tensor& x) { return x.is_complex() ? Op<"conj">(x) : x; }

/// The conjugate transpose of the last two axes.
inline Tensor Adjoint(const Tensor& x) { return Op<"transpose">(ConjOf(x), -1, -2); }

/// x times a number; x itself if the number is 1.
inline Tensor Scaled(const Tensor& x, const Value& scale, bool conjugate = false) {
  const complex128 z = scale.complex();
  if (z == complex128(1)) return x;
  return x * Number(conjugate && z.im != 0 ? Value(Conj(z)) : scale);
}

}  // namespace dragon::products
