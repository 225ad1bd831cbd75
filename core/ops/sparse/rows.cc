// Products of matrices in compressed rows, which are made of vectors: starts of rows, places of columns, numbers.
#include "core/ops/sparse/form.h"

namespace dragon {
namespace {

Tensor ConjugateOf(const Tensor& x) { return x.is_complex() ? Op<"conj_physical">(x) : x; }

/// A matrix's numbers and their places, by columns.
struct Turned {
  Tensor starts, places, numbers;

  Turned(const Grad& g, const Tensor& numbers_by_rows, int64_t columns) {
    const Tensors turned = OpN<"turn_rows">(g.x("starts"), g.x("places"), columns);
    starts = turned[0], places = turned[1];
    numbers = Op<"index_select">(numbers_by_rows, 0, turned[2]);
  }
};

[[maybe_unused]] const auto& rows_matmul =
    DefineOp("rows_matmul(Tensor starts, Tensor places, Tensor values, Tensor dense) -> Tensor")
        .Doc(
            "A matrix in compressed rows by a dense one: row i is the sum of values[k] * dense[places[k]] for k from "
            "starts[i] to starts[i + 1].")
        .Infers([](Infer& i) {
          CheckForm(i, i.x("values"));
          CheckDense(i, i.x("dense"), i.x("values"));
          const Dims shape{i.x("starts").numel() - 1, i.x("dense").size(1)};
          CheckedNumel(i.name(), shape, i.x("dense").item_size());
          i.y(0, shape, i.x("dense").dtype());
        })
        .Runs([](Run& r) {
          kernels::RowsMatmul(r.ctx(), r.y().dtype(), r.out(), Places(r, "starts"), Places(r, "places"),
                              r.rows("values"), r.rows("dense"));
        })
        .Gradient("starts, places, values for dense, dense for values", [](Grad& g) {
          if (g.needs("values")) {
            g.dx("values", Op<"rows_dots">(g.x("starts"), g.x("places"), g.dy(), ConjugateOf(g.x("dense"))));
          }
          if (!g.needs("dense")) return;
          const Turned turned(g, ConjugateOf(g.x("values")), g.x_shape("dense")[0]);
          g.dx("dense", Op<"rows_matmul">(turned.starts, turned.places, turned.numbers, g.dy()));
        });

[[maybe_unused]] const auto& rows_dots =
    DefineOp("rows_dots(Tensor starts, Tensor places, Tensor a, Tensor b) -> Tensor")
        .Doc("The products of row i of a with row places[k] of b, for k from starts[i] to starts[i + 1].")
        .Infers([](Infer& i) {
          CheckForm(i, Tensor());
          CheckDense(i, i.x("a"), i.x("b"));
          CheckDense(i, i.x("b"), i.x("a"));
          const Dims shape{i.x("starts").numel() - 1, i.x("b").size(1)};
          if (i.x("a").shape() != shape)
            throw ValueError(i.name()).Got("a of shape ", i.x("a").shape()).Expected(shape);
          i.y(0, i.x("places").shape(), i.x("a").dtype());
        })
        .Runs([](Run& r) {
          kernels::RowsDots(r.ctx(), r.y().dtype(), r.out(), Places(r, "starts"), Places(r, "places"), r.rows("a"),
                            r.rows("b"));
        })
        .Gradient("starts, places, a for b, b for a", [](Grad& g) {
          if (g.needs("a")) g.dx("a", Op<"rows_matmul">(g.x("starts"), g.x("places"), g.dy(), ConjugateOf(g.x("b"))));
          if (!g.needs("b")) return;
          const Turned turned(g, g.dy(), g.x_shape("b")[0]);
          g.dx("b", Op<"rows_matmul">(turned.starts, turned.places, turned.numbers, ConjugateOf(g.x("a"))));
        });

[[maybe_unused]] const auto& turn_rows =
    DefineOp(
        "turn_rows(Tensor starts, Tensor places, int columns) -> (Tensor starts_of_columns, Tensor rows, Tensor order)")
        .Doc("Compressed rows by columns: where columns start, the rows in each, and which number is at each place.")
        .NotDifferentiable()
        .Infers([](Infer& i) {
          CheckForm(i, Tensor());
          if (i.Int("columns") < 0) throw ValueError(i.name()).Got("columns ", i.Int("columns")).Expected("at least 0");
          CheckedNumel(i.name(), {i.Int("columns")}, 16);
          i.y(0, {i.Int("columns") + 1}, DType::kInt64);
          i.y(1, i.x("places").shape(), DType::kInt64);
          i.y(2, i.x("places").shape(), DType::kInt64);
        })
        .Runs([](Run& r) {
          kernels::TurnRows(r.ctx(), DType::kInt64, r.out(0), r.out(1), r.out(2), Places(r, "starts"),
                            Places(r, "places"));
        });

}  // namespace
}  // namespace dragon
