// Products of many matrices, in the order that needs the fewest multiplications; and powers of one.
#include <vector>

#include "core/ops/matmul/products.h"

namespace dragon {
namespace {

using namespace products;  // NOLINT: this file is about nothing else

/// Multiplies a chain by the classic dynamic programme over split points.
class Chain {
 public:
  explicit Chain(std::span<const Tensor> matrices) : matrices_(matrices), count_(matrices.size()) {
    std::vector<double> cost(count_ * count_, 0);
    split_.assign(count_ * count_, 0);
    for (size_t length = 2; length <= count_; ++length) {
      for (size_t first = 0; first + length <= count_; ++first) {
        const size_t last = first + length - 1;
        for (size_t at = first; at < last; ++at) {
          const double product = 1.0 * Rows(first) * Rows(at + 1) * matrices[last].size(1);
          const double total = cost[first * count_ + at] + cost[(at + 1) * count_ + last] + product;
          if (at > first && total >= cost[first * count_ + last]) continue;
          cost[first * count_ + last] = total;
          split_[first * count_ + last] = at;
        }
      }
    }
  }
  Tensor Multiply() const { return Multiply(0, count_ - 1); }

 private:
  double Rows(size_t i) const { return static_cast<double>(matrices_[i].size(0)); }
  Tensor Multiply(size_t first, size_t last) const {
    if (first == last) return matrices_[first];
    const size_t at = split_[first * count_ + last];
    return Op<"mm">(Multiply(first, at), Multiply(at + 1, last));
  }

  std::span<const Tensor> matrices_;
  size_t count_;
  std::vector<size_t> split_;
};

/// `vector_ends`: the first may be a row vector, the last a column vector.
Tensors MultiplyAll(const CallReader& c, bool vector_ends) {
  const auto given = c.list("xs");
  if (given.size() < (vector_ends ? 2 : 1)) {
    throw ValueError(c.name()).Got(given.size(), " tensors").Expected(vector_ends ? "at least 2" : "at least 1");
  }
  CheckSameDType(c);
  std::vector<Tensor> matrices(given.begin(), given.end());
  const bool row = vector_ends && given.front().ndim() == 1, column = vector_ends && given.back().ndim() == 1;
  if (row) matrices.front() = Op<"unsqueeze">(matrices.front(), 0);
  if (column) matrices.back() = Op<"unsqueeze">(matrices.back(), -1);
  for (size_t i = 0; i < matrices.size(); ++i) {
    const bool fits = matrices[i].ndim() == 2 && (i == 0 || matrices[i - 1].size(1) == matrices[i].size(0));
    if (!fits) throw ValueError(c.name()).Got("shape ", given[i].shape(), " at ", i).Expected("matrices that chain");
  }
  Tensor product = Chain(matrices).Multiply();
  if (column) product = Op<"squeeze">(product, -1);
  if (row) product = Op<"squeeze">(product, 0);
  return {product};
}

[[maybe_unused]] const auto& multi_dot = DefineOp("linalg_multi_dot(Tensor[] xs) -> Tensor")
                                             .Doc("The product of two or more matrices in the cheapest order.")
                                             .As([](const CallReader& c) { return MultiplyAll(c, true); });

[[maybe_unused]] const auto& chain_matmul = DefineOp("chain_matmul(Tensor[] xs) -> Tensor")
                                                .Doc("The product of one or more matrices in the cheapest order.")
                                                .As([](const CallReader& c) { return MultiplyAll(c, false); });

Tensors MatrixPower(const CallReader& c) {
  Tensor square = c.x(0);
  if (square.ndim() < 2 || square.size(-1) != square.size(-2)) {
    throw ValueError(c.name()).Got("shape ", square.shape()).Expected("square matrices");
  }
  int64_t power = c.Int("n");
  if (power == 0) {
    const Tensor eye = Op<"eye">(square.size(-1), square.size(-1), square.dtype(), square.device());
    return {Op<"clone">(Op<"expand">(eye, square.shape()))};
  }
  if (power < 0) square = Op<"linalg_inv">(square);
  uint64_t rest = power < 0 ? uint64_t{0} - static_cast<uint64_t>(power) : static_cast<uint64_t>(power);
  Tensor product;
  for (; rest; rest >>= 1) {
    if (rest & 1) product = product.defined() ? Op<"matmul">(product, square) : square;
    if (rest > 1) square = Op<"matmul">(square, square);
  }
  return {product.is_same(c.x(0)) ? Op<"clone">(product) : product};
}

[[maybe_unused]] const auto& matrix_power =
    DefineOp("matrix_power(Tensor x, int n) -> Tensor")
        .Doc("Square matrices multiplied by themselves; inverted first if n < 0.")
        .As(MatrixPower);
[[maybe_unused]] const auto& linalg_matrix_power =
    DefineOp("linalg_matrix_power(Tensor x, int n) -> Tensor").Doc("The same as matrix_power.").As(MatrixPower);

}  // namespace
}  // namespace dragon
