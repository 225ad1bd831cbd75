// How random operators write: straight into memory without gaps, in the order of memory, else by way of a copy.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/framework/generator.h"
#include "core/framework/infer.h"
#include "core/framework/layout.h"
#include "core/framework/op.h"
#include "core/kernels/random.h"

namespace dragon {

/// The elements of a tensor without gaps as one row, in the order they lie in memory; complex ones as their two parts.
struct FlatView {
  explicit FlatView(const Tensor& x)
      : size(x.is_complex() ? 2 * x.numel() : x.numel()),
        view{x.mutable_data(), &size, &stride, size, 1, RealDType(x.dtype())} {}
  FlatView(const FlatView&) = delete;
  FlatView& operator=(const FlatView&) = delete;

  int64_t size;
  int64_t stride = 1;
  View view;
};

/// Strides without gaps that keep the order of a tensor's axes in memory. A layout of the engine's choice is not kept:
/// users count on numbers in row-major order.
inline Dims DenseStrides(const Tensor& x) {
  const LayoutReaders reading(x);
  const bool repeats = std::find(x.strides().begin(), x.strides().end(), 0) != x.strides().end();  // no order to keep
  if (x.impl()->free_layout || x.is_contiguous() || repeats) return ContiguousStrides(x.shape());
  return StridesInOrder(x.shape(), x.strides());
}

/// Result 0: like input 0, its axes in the same order of memory.
inline void InferDrawLike(Infer& i) { i.y(0, i.x(0).shape(), i.x(0).dtype(), DenseStrides(i.x(0))); }

/// Fill result 0 with `draw(view, state, in_order)`; `in_order` says whether memory order is row-major order.
template <typename F>
void Draw(Run& r, F draw) {
  const Tensor& y = r.y();
  const bool dense = IsDense(y.shape(), y.strides());
  const Tensor target = dense ? y : Tensor::EmptyStrided(y.shape(), DenseStrides(y), y.dtype(), y.device());
  if (y.numel() > 0) {
    const FlatView flat(target);
    GeneratorOf(r.name(), r.attr("generator")).Draw([&](RandomState* state) {
      draw(flat.view, state, y.is_contiguous());
    });
  }
  if (!dense) OpInto<"copy">(y, target);
}

/// Random numbers do not depend on what they replace.
inline void NoGradient(Grad& g) { g.dx(0, Op<"zeros">(g.x_shape(0), g.x_dtype(0), g.x_device(0))); }

inline void CheckFloating(const char* who, DType dtype) {
  if (!IsFloating(dtype)) throw TypeError(who).Got(dtype).Expected("a floating dtype");
}

inline void CheckFloatingOrComplex(const char* who, DType dtype) {
  if (!IsComplex(dtype)) CheckFloating(who, dtype);
}

/// The highest of the consecutive integers a real dtype holds; floats count up to 2^digits.
inline double HighestExact(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return 1;
    case DType::kFloat16:
      return 0x1p11;
    case DType::kBFloat16:
      return 0x1p8;
    case DType::kFloat32:
      return 0x1p24;
    case DType::kFloat64:
      return 0x1p53;
    default:
      return std::ldexp(1.0, static_cast<int>(ItemSize(dtype)) * 8 - (IsUnsigned(dtype) ? 0 : 1)) - 1;
  }
}

/// Refuse bounds [low, high) that are empty or beyond what the dtype holds exactly.
inline void CheckIntegerRange(const char* who, DType dtype, int64_t low, std::optional<int64_t> high) {
  if (IsComplex(dtype)) throw TypeError(who).Got(dtype).Expected("a real dtype");
  const double most = HighestExact(dtype);
  const double least = dtype == DType::kBool || IsUnsigned(dtype) ? 0 : IsFloating(dtype) ? -most : -most - 1;
  if (high && *high <= low) throw ValueError(who).Got("low = ", low, ", high = ", *high).Expected("low < high");
  if (static_cast<double>(low) < least || static_cast<double>(high ? *high - 1 : low) > most) {
    throw ValueError(who)
        .Got("integers from ", low, " to ", high ? *high - 1 : low, " for ", dtype)
        .Expected("numbers that the dtype holds exactly");
  }
}

}  // namespace dragon
