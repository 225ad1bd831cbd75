// The largest numbers of rows, and products of two matrices in compressed rows.
#include "core/framework/known.h"
#include "core/ops/sparse/form.h"

namespace dragon {
namespace {

/// Of each place of `which`: the numbers k, with 0 where there is none, and the rows of the dense matrix that they
/// meet.
struct Met {
  Tensor there, number, at;

  Met(const Tensor& places, const Tensor& which, int64_t width) {
    there = Op<"ge">(which, Number(int64_t{0}));
    number = Op<"reshape">(Op<"clamp">(which, Number(int64_t{0}), None), Dims{-1});
    const Tensor rows = Op<"index_select">(Op<"cast">(places, DType::kInt64), 0, number);
    const Tensor columns = Op<"arange">(int64_t{0}, width, int64_t{1}, DType::kInt64, which.device());
    at = Op<"add">(Op<"reshape">(Op<"mul">(rows, Number(width)), which.shape()), columns);
    at = Op<"reshape">(at, Dims{-1});
  }
};

/// Sums of `parts` at `places` of a vector.
Tensor AddedUp(int64_t size, const Tensor& places, const Tensor& parts) {
  return Op<"index_add">(Op<"zeros">(Dims{size}, parts.dtype(), parts.device()), 0, places,
                         Op<"reshape">(parts, Dims{-1}));
}

[[maybe_unused]] const auto& rows_extreme =
    DefineOp(
        "rows_extreme(Tensor starts, Tensor places, Tensor values, Tensor dense, *, bool least=False) -> (Tensor y, "
        "Tensor which)")
        .Doc(
            "The largest (or least) values[k] * dense[places[k]] for k from starts[i] to starts[i + 1], column by "
            "column, and which k that was: 0 and -1 where a row has none.")
        .Infers([](Infer& i) {
          CheckForm(i, i.x("values"));
          CheckDense(i, i.x("dense"), i.x("values"));
          const Dims shape{i.x("starts").numel() - 1, i.x("dense").size(1)};
          CheckedNumel(i.name(), shape, 8);
          i.y(0, shape, i.x("dense").dtype());
          i.y(1, shape, DType::kInt64);
        })
        .Runs([](Run& r) {
          kernels::RowsExtreme(r.ctx(), r.y().dtype(), r.out(0), r.out(1), Places(r, "starts"), Places(r, "places"),
                               r.rows("values"), r.rows("dense"), r.Bool("least"));
        })
        .Gradient("places, values, dense, which", [](Grad& g) {
          const Tensor &values = g.x("values"), &dense = g.x("dense"), &which = g.y(1);
          const int64_t width = dense.size(1), count = values.numel();
          if (count == 0 || dense.numel() == 0) return;  // no number was chosen
          const Met met(g.x("places"), which, width);
          const Tensor dy = Op<"where">(met.there, g.dy(0), Op<"zeros_like">(g.dy(0)));
          if (g.needs("values")) {
            const Tensor read = Op<"index_select">(Op<"reshape">(dense, Dims{-1}), 0, met.at);
            g.dx("values", AddedUp(count, met.number, dy * Op<"reshape">(read, which.shape())));
          }
          if (g.needs("dense")) {
            const Tensor factor = Op<"reshape">(Op<"index_select">(values, 0, met.number), which.shape());
            g.dx("dense", Op<"reshape">(AddedUp(dense.numel(), met.at, dy * factor), dense.shape()));
          }
        });

[[maybe_unused]] const auto& rows_product =
    DefineOp(
        "rows_product(Tensor starts, Tensor places, Tensor values, Tensor other_starts, Tensor other_places, Tensor "
        "other_values, int columns) -> (Tensor product_starts, Tensor product_places, Tensor product_values)")
        .Doc("The product of two matrices in compressed rows, its rows by rising columns. Sums of 0 are kept.")
        .Dynamic()
        .NotDifferentiable()
        .Infers([](Infer& i) {
          const int64_t count = AskSizeByNumbers();
          i.y(0, i.x("starts").shape(), DType::kInt64);
          i.y(1, Dims{count}, DType::kInt64);
          i.y(2, Dims{count}, i.x("values").dtype());
        })
        .Runs([](Run& r) {
          CheckForm(r, r.x("values"));
          CheckForm(r, r.x("other_values"), "other_starts", "other_places");
          if (r.x("values").dtype() != r.x("other_values").dtype()) {
            throw TypeError(r.name())
                .Got(r.x("values").dtype(), " and ", r.x("other_values").dtype())
                .Expected("one dtype");
          }
          const int64_t columns = r.Int("columns");
          if (columns < 0) throw ValueError(r.name()).Got("columns ", columns).Expected("at least 0");
          CheckedNumel(r.name(), {columns}, 16);
          const Device device = r.x("values").device();
          const LentView starts = Places(r, "starts"), places = Places(r, "places");
          const LentView other_starts = Places(r, "other_starts"), other_places = Places(r, "other_places");
          const Tensor product_starts = Tensor::Empty(r.x("starts").shape(), DType::kInt64, device);
          kernels::StartsOfProduct(r.ctx(), DType::kInt64, product_starts.mutable_view(), starts, places, other_starts,
                                   other_places, columns);
          const int64_t count = Op<"select">(product_starts, 0, int64_t{-1}).Item().integer();
          r.set_y(0, product_starts);
          r.set_y(1, Tensor::Empty({count}, DType::kInt64, device));
          r.set_y(2, Tensor::Empty({count}, r.x("values").dtype(), device));
          kernels::RowsProduct(r.ctx(), r.x("values").dtype(), product_starts.view(), r.out(1), r.out(2), starts,
                               places, r.rows("values"), other_starts, other_places, r.rows("other_values"), columns);
        });

}  // namespace
}  // namespace dragon
