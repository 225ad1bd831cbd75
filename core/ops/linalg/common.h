// What the operators of linear algebra share: checks of matrices, batches, and a few words to write gradients with.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/linalg.h"

namespace dragon::linalg {

/// The axes before the last two.
inline Dims BatchOf(const Dims& shape) { return Dims(shape.data(), shape.size() - 2); }
inline Dims MatrixShape(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}
inline Dims With(Dims batch, int64_t size) {
  batch.push_back(size);
  return batch;
}

/// float32, float64, complex64 or complex128, with at least two axes.
void CheckMatrix(const CallReader& c, ArgumentName name, bool halves_too = false);
/// The same, and square.
void CheckSquare(const CallReader& c, ArgumentName name, bool halves_too = false);
/// Result 0 like an argument that must be square.
void InferSquare(Infer& i, ArgumentName name, bool halves_too = false);
/// Two matrix arguments of one dtype.
void CheckSameDType(const CallReader& c, ArgumentName a, ArgumentName b);

/// An input in row-major order, repeated to the given batch.
Tensor Expanded(const Tensor& x, const Dims& batch);

/// int32 places for LAPACK's answers, when nobody asked for them as a result.
class InfoScratch {
 public:
  InfoScratch(Run& r, const Dims& batch);
  View view() const { return owned_.view; }

 private:
  Scratch memory_;
  OwnedView owned_;
};

/// Operators come in pairs: one raises trouble in its own name, the other, whose name ends in _ex, tells it in a last
/// result and raises it only if asked to. `run(r, info, who)` serves both; `infer` is that of the first.
template <auto run>
void RunRaising(Run& r) {
  const InfoScratch info(r, BatchOf(r.x(0).shape()));
  run(r, info.view(), r.name());
}
template <auto run>
void RunTelling(Run& r) {
  run(r, r.out(r.y_count() - 1), r.Bool("check_errors") ? r.name() : nullptr);
}
template <auto infer>
void InferTelling(Infer& i) {
  infer(i);
  i.y(static_cast<int>(i.outputs.size()), BatchOf(i.x(0).shape()), DType::kInt32);
}

inline Tensor MatMul(const Tensor& a, const Tensor& b) { return Op<"matmul">(a, b); }
inline Tensor Adjoint(const Tensor& x) { return Op<"adjoint">(x); }
inline Tensor Transposed(const Tensor& x) { return Op<"transpose">(x, -2, -1); }
inline Tensor Conj(const Tensor& x) { return x.is_complex() ? Op<"conj">(x) : x; }
inline Tensor Real(const Tensor& x) { return x.is_complex() ? Op<"real">(x) : x; }
inline Tensor Tril(const Tensor& x, int64_t offset = 0) { return Op<"tril">(x, offset); }
inline Tensor Triu(const Tensor& x, int64_t offset = 0) { return Op<"triu">(x, offset); }
inline Tensor AsColumn(const Tensor& x) { return Op<"unsqueeze">(x, -1); }
inline Tensor AsRow(const Tensor& x) { return Op<"unsqueeze">(x, -2); }
inline Tensor Diagonal(const Tensor& x) { return Op<"diagonal">(x, 0, -2, -1); }
/// x[..., start:stop] along an axis.
inline Tensor Part(const Tensor& x, int64_t axis, int64_t start, int64_t stop) {
  return Op<"slice">(x, axis, start, stop, 1);
}
/// A number for every matrix of a batch, ready to multiply them.
inline Tensor PerMatrix(const Tensor& x) { return AsColumn(AsColumn(x)); }
Tensor Identity(int64_t n, DType dtype, Device device);
/// a + b, where either may be undefined.
inline Tensor Plus(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

}  // namespace dragon::linalg
