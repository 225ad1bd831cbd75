// Tables looked up by integers: embedding, embedding bags, one-hot rows, repeated elements.
#include <cmath>
#include <limits>

#include "core/framework/known.h"
#include "core/kernels/index.h"
#include "core/ops/check.h"
#include "core/ops/index/indices.h"

namespace dragon {
namespace {

using kernels::BagMode;

constexpr int64_t kNoPadding = -1;

/// A padding index as a row of the table, or kNoPadding.
int64_t PaddingRow(const char* who, const Value& padding, int64_t rows) {
  if (padding.is_none()) return kNoPadding;
  const int64_t row = padding.integer() < 0 ? padding.integer() + rows : padding.integer();
  if (row < 0 || row >= rows) {
    throw ValueError(who).Got("padding_idx ", padding.integer()).Expected(-rows, " to ", rows - 1);
  }
  return row;
}

void CheckTable(const char* who, const Tensor& weight, const Tensor& index) {
  if (weight.ndim() != 2) throw ValueError(who).Got("a weight of shape ", weight.shape()).Expected("two axes");
  CheckIndexDType(who, index);
}

[[maybe_unused]] const auto& embedding =
    DefineOp("embedding(Tensor weight, Tensor index, int? padding_idx=None, bool scale_grad_by_freq=False) -> Tensor")
        .Doc("The rows of a table that integers list.")
        .Batches(Batching::kRows, "", "weight")
        .Infers([](Infer& i) {
          const Tensor &weight = i.x("weight"), &index = i.x("index");
          CheckTable("embedding", weight, index);
          PaddingRow("embedding", i.attr("padding_idx"), weight.size(0));
          Dims shape = index.shape();
          shape.push_back(weight.size(1));
          CheckedNumel("embedding", shape, weight.item_size());
          i.y(0, std::move(shape), weight.dtype());
        })
        .Runs([](Run& r) {
          const Tensor index = AsInt64(r.Contiguous("index"));
          const int64_t count = index.numel(), width = r.x("weight").size(1);
          const Dims shape{count, width}, strides{width, 1}, index_strides{1, 0};
          const View y{r.y().mutable_data(), shape.data(), strides.data(), count * width, 2, r.dtype()};
          const View rows{
              const_cast<void*>(index.data()), shape.data(), index_strides.data(), count * width, 2, DType::kInt64};
          kernels::Gather(r.ctx(), r.dtype(), y, r.in("weight"), rows, 0, {"embedding"});
        })
        .Gradient("index", [](Grad& g) {
          const int64_t rows = g.x_shape("weight")[0];
          g.dx("weight", Op<"embedding_backward">(g.dy(), g.x("index"), rows,
                                                  PaddingRow("embedding", g.attr("padding_idx"), rows),
                                                  g.Bool("scale_grad_by_freq")));
        });

[[maybe_unused]] const auto& embedding_backward =
    DefineOp(
        "embedding_backward(Tensor dy, Tensor index, int rows, int padding_row, bool scale_grad_by_freq) -> Tensor")
        .Doc("The gradient of an embedding by its table.")
        .Infers([](Infer& i) {
          const Tensor &dy = i.x("dy"), &index = i.x("index");
          CheckIndexDType("embedding_backward", index);
          Dims shape = index.shape();
          shape.push_back(dy.ndim() ? dy.size(-1) : 0);
          if (dy.shape() != shape) {
            throw ValueError("embedding_backward")
                .Got("dy ", dy.shape(), " for index ", index.shape())
                .Expected("one row per index");
          }
          const Dims table{i.Int("rows"), shape.back()};
          CheckedNumel("embedding_backward", table, dy.item_size());
          i.y(0, table, dy.dtype());
        })
        .Runs([](Run& r) {
          const Tensor index = AsInt64(r.Contiguous("index"));
          kernels::EmbeddingBackward(r.ctx(), r.dtype(), r.out(), r.rows("dy"), index.view(), r.Int("padding_row"),
                                     r.Bool("scale_grad_by_freq"));
        })
        .Gradient("index", [](Grad& g) {
          Tensor ddy = Op<"embedding">(g.dy(), g.x("index"));
          const Tensor column = Op<"unsqueeze">(g.x("index"), -1);
          if (g.Bool("scale_grad_by_freq")) {
            const Tensor flat = Op<"reshape">(g.x("index"), Dims{g.x("index").numel()});
            const Tensor often = Op<"bincount">(flat, None, g.Int("rows"));
            ddy = ddy / Op<"cast">(Op<"index_read">(often, std::vector<Tensor>{column}), ddy.dtype());
          }
          if (g.Int("padding_row") >= 0)
            ddy = Op<"masked_fill">(ddy, Op<"eq">(column, Number(g.Int("padding_row"))), Number(0.0));
          g.dx("dy", ddy);
        });

BagMode BagModeNamed(const char* who, const std::string& mode) {
  if (mode == "sum") return BagMode::kSum;
  if (mode == "mean") return BagMode::kMean;
  if (mode == "max") return BagMode::kMax;
  throw ValueError(who).Got("mode '", mode, "'").Expected("sum, mean or max");
}

/// The kernel's offsets: bags + 1 entries, the last being the number of indices.
Tensor BagEdges(const Tensor& offsets, const Tensor& index, bool include_last) {
  const Tensor edges = AsInt64(offsets);
  if (include_last) return Op<"contiguous">(edges);
  const Tensor end = Tensor::Empty({1}, DType::kInt64);
  *static_cast<int64_t*>(end.mutable_data()) = index.numel();
  return Op<"cat">(std::vector<Tensor>{edges, Op<"to_device">(end, edges.device())}, 0);
}

/// Operands 0 to 3 of both directions: weight, index (1-d), offsets, per-sample weights.
void CheckBag(const CallReader& c, int64_t bags) {
  const char* who = c.name();
  const Tensor &weight = c.x("weight"), &index = c.x("index"), &offsets = c.x("offsets");
  CheckTable(who, weight, index);
  CheckIndexDType(who, offsets);
  if (index.ndim() != 1 || offsets.ndim() != 1) {
    throw ValueError(who).Got("index ", index.shape(), " and offsets ", offsets.shape()).Expected("vectors");
  }
  if (bags < 0) throw ValueError(who).Got("no offsets").Expected("at least the last one");
  if (!c.has("per_sample_weights")) return;
  if (c.String("mode") != "sum")
    throw ValueError(who).Got("per_sample_weights in mode ", c.String("mode")).Expected("mode sum");
  if (c.x("per_sample_weights").shape() != index.shape() || c.x("per_sample_weights").dtype() != weight.dtype()) {
    throw ValueError(who)
        .Got("per_sample_weights ", c.x("per_sample_weights").dtype(), c.x("per_sample_weights").shape())
        .Expected(weight.dtype(), index.shape(), " like index and weight");
  }
}

int64_t Bags(const CallReader& c) { return c.x("offsets").numel() - c.Bool("include_last_offset"); }

/// `max_indices` holds, in mode max, the row each element of the result came from.
[[maybe_unused]] const auto& embedding_bag =
    DefineOp(
        "embedding_bag(Tensor weight, Tensor index, Tensor offsets, Tensor? per_sample_weights=None, "
        "bool scale_grad_by_freq=False, str mode=\"mean\", bool include_last_offset=False, int? padding_idx=None)"
        " -> (Tensor y, Tensor max_indices)")
        .Doc("The sum, mean or maximum of the rows of each bag of indices.")
        .Infers([](Infer& i) {
          CheckBag(i, Bags(i));
          const BagMode mode = BagModeNamed(i.name(), i.String("mode"));
          PaddingRow(i.name(), i.attr("padding_idx"), i.x("weight").size(0));
          const Dims shape{Bags(i), i.x("weight").size(1)};
          i.y(0, shape, i.x("weight").dtype());
          i.y(1, mode == BagMode::kMax ? shape : Dims{0}, DType::kInt64);
        })
        .Runs([](Run& r) {
          const Tensor weight = r.Contiguous("weight"), index = AsInt64(r.Contiguous("index"));
          const Tensor edges = BagEdges(r.x("offsets"), index, r.Bool("include_last_offset"));
          const BagMode mode = BagModeNamed(r.name(), r.String("mode"));
          kernels::EmbeddingBag(r.ctx(), r.dtype(), r.out(0), mode == BagMode::kMax ? r.out(1) : View{}, weight.view(),
                                index.view(), edges.view(), r.rows("per_sample_weights"), mode,
                                PaddingRow(r.name(), r.attr("padding_idx"), weight.size(0)));
        })
        .Gradient("weight, index, offsets, per_sample_weights, max_indices", [](Grad& g) {
          if (!g.dy().defined()) return;
          const Tensors grads = OpN<"embedding_bag_backward">(
              g.x("weight"), g.x("index"), g.x("offsets"), g.x("per_sample_weights"), g.dy(), g.y(1),
              g.Bool("scale_grad_by_freq"), g.attr("mode"), g.Bool("include_last_offset"),
              PaddingRow("embedding_bag", g.attr("padding_idx"), g.x_shape("weight")[0]));
          g.dx("weight", grads[0]);
          if (g.needs("per_sample_weights")) g.dx("per_sample_weights", grads[1]);
        });

[[maybe_unused]] const auto& embedding_bag_backward =
    DefineOp(
        "embedding_bag_backward(Tensor weight, Tensor index, Tensor offsets, Tensor? per_sample_weights, Tensor dy, "
        "Tensor max_indices, bool scale_grad_by_freq, str mode, bool include_last_offset, int padding_row)"
        " -> (Tensor dweight, Tensor dscale)")
        .Doc("The gradient of bags of embeddings by their table.")
        .Infers([](Infer& i) {
          CheckBag(i, Bags(i));
          const Dims shape{Bags(i), i.x("weight").size(1)};
          if (i.x("dy").shape() != shape) throw ValueError(i.name()).Got("dy ", i.x("dy").shape()).Expected(shape);
          const bool max = BagModeNamed(i.name(), i.String("mode")) == BagMode::kMax;
          if (max && (i.x("max_indices").shape() != shape || i.x("max_indices").dtype() != DType::kInt64)) {
            throw ValueError(i.name())
                .Got("max_indices ", i.x("max_indices").shape())
                .Expected("int64 of shape ", shape);
          }
          if (i.x("dy").dtype() != i.x("weight").dtype())
            throw TypeError(i.name()).Got("dy of ", i.x("dy").dtype()).Expected(i.x("weight").dtype());
          i.y(0, i.x("weight").shape(), i.x("weight").dtype());
          i.y(1, i.has("per_sample_weights") ? i.x("index").shape() : Dims{0}, i.x("weight").dtype());
        })
        .Runs([](Run& r) {
          const Tensor index = AsInt64(r.Contiguous("index"));
          const Tensor edges = BagEdges(r.x("offsets"), index, r.Bool("include_last_offset"));
          const Tensor scale = r.Contiguous("per_sample_weights");
          kernels::EmbeddingBagBackward(
              r.ctx(), r.dtype(), r.out(0), scale.defined() ? r.out(1) : View{}, r.rows("dy"), r.rows("max_indices"),
              r.rows("weight"), index.view(), edges.view(), scale.defined() ? scale.view() : View{},
              BagModeNamed(r.name(), r.String("mode")), r.Int("padding_row"), r.Bool("scale_grad_by_freq"));
        });

[[maybe_unused]] const auto& one_hot =
    DefineOp("one_hot(Tensor x, int num_classes=-1) -> Tensor")
        .Doc("A last axis that is 1 at the place x names and 0 elsewhere.")
        .As([](const CallReader& c) -> Tensors {
          CheckIndexDType("one_hot", c.x(0));
          const Tensor x = AsInt64(c.x(0));
          int64_t classes = c.Int("num_classes");
          if (classes < -1 || (classes <= 0 && x.numel() == 0)) {
            throw ValueError("one_hot")
                .Got("num_classes ", classes, " for ", x.numel(), " numbers")
                .Expected("a positive number of classes");
          }
          if (x.is_meta() && classes == -1) {
            throw NotImplementedError("one_hot").Got("a meta tensor").Expected("numbers, or num_classes");
          }
          if (x.numel() > 0 && !Holds(Op<"all">(Op<"ge">(x, Number(int64_t{0}))))) {
            throw ValueError("one_hot").Got(Op<"amin">(x).Item().integer()).Expected("no class below 0");
          }
          if (classes == -1) classes = Op<"amax">(x).Item().integer() + 1;
          Dims shape = x.shape();
          shape.push_back(classes);
          const Tensor zeros = Op<"zeros">(shape, DType::kInt64, x.device());
          const Tensor one = Tensor::Scalar(Value(int64_t{1}), DType::kInt64);
          return {Op<"scatter">(zeros, -1, Op<"unsqueeze">(x, -1), one)};
        });

/// The places 0, 0, 1, 2, 2, 2, ... that repeats of (2, 1, 3, ...) mean.
[[maybe_unused]] const auto& repeat_places =
    DefineOp("repeat_places(Tensor repeats) -> Tensor")
        .Doc("For counts of repetition, the index of each repeated element.")
        .Dynamic()
        .Infers([](Infer& i) { i.y(0, Dims{AskSizeByNumbers()}, DType::kInt64); })
        .NotDifferentiable()
        .Runs([](Run& r) {
          // How long the result is depends on the numbers: whatever device they are on, they come here and go back.
          const Tensor repeats = Op<"to_device">(AsInt64(r.Contiguous(0)), Device{});
          const auto* count = static_cast<const int64_t*>(repeats.data());
          int64_t total = 0;
          for (int64_t i = 0; i < repeats.numel(); ++i) {
            if (count[i] < 0) throw ValueError("repeat_interleave").Got("repeats ", count[i]).Expected("none below 0");
            if (__builtin_add_overflow(total, count[i], &total)) {
              throw ValueError("repeat_interleave")
                  .Got("repeats whose sum overflows")
                  .Expected("a sum that an int64 can hold");
            }
          }
          const Tensor places = Tensor::Empty({total}, DType::kInt64);
          auto* to = static_cast<int64_t*>(places.mutable_data());
          for (int64_t i = 0; i < repeats.numel(); ++i) to = std::fill_n(to, count[i], i);
          r.set_y(0, Op<"to_device">(places, r.x(0).device()));
        });

/// Whether an argument is a number of the program's, rather than a tensor's that nobody may look at in a capture.
bool IsPlainNumber(const Tensor& x) { return x.impl()->weak && x.ndim() == 0; }

/// Every element of an axis as often: a shape that is known without a look at numbers of tensors.
Tensor RepeatAll(const Tensor& x, int64_t axis, int64_t count, const CallReader& c) {
  if (count < 0) throw ValueError("repeat_interleave").Got("repeats ", count).Expected("none below 0");
  int64_t total = 0;
  if (__builtin_mul_overflow(x.size(axis), count, &total)) {
    throw ValueError("repeat_interleave").Got("repeats whose sum overflows").Expected("a sum that an int64 can hold");
  }
  if (c.Given("output_size") && c.Int("output_size") != total) {
    throw ValueError("repeat_interleave")
        .Got("output_size ", c.Int("output_size"))
        .Expected("the sum of repeats, ", total);
  }
  Dims wide = x.shape();
  Dims shape = x.shape();
  wide.insert(axis + 1, count);
  shape[axis] = total;
  return Op<"reshape">(Op<"expand">(Op<"unsqueeze">(x, axis + 1), wide), shape);
}

[[maybe_unused]] const auto& repeat_interleave =
    DefineOp("repeat_interleave(Tensor x, Tensor repeats, int? axis=None, *, int? output_size=None) -> Tensor")
        .Doc("Every element of an axis repeated: all as often, or each as its entry of repeats says.")
        .As([](const CallReader& c) -> Tensors {
          Tensor repeats = c.x("repeats");
          // A bare number arrives in the dtype of x.
          if (repeats.impl()->weak && std::floor(repeats.Item().real()) == repeats.Item().real()) {
            repeats = Op<"cast">(repeats, DType::kInt64);
          }
          CheckIndexDType("repeat_interleave", repeats);
          const Tensor x = c.Given("axis") ? c.x("x") : Op<"reshape">(c.x("x"), Dims{c.x("x").numel()});
          const int64_t axis = NormalizeAxis("repeat_interleave", c.Given("axis") ? c.Int("axis") : 0, x.ndim());
          if (x.ndim() == 0 || c.x("repeats").ndim() > 1) {
            throw ValueError("repeat_interleave")
                .Got("x ", x.shape(), " and repeats ", c.x("repeats").shape())
                .Expected("an axis to repeat, and at most a vector of repeats");
          }
          if (IsPlainNumber(c.x("repeats"))) {
            return {RepeatAll(x, axis, static_cast<int64_t>(c.x("repeats").Item().real()), c)};
          }
          if (repeats.numel() == 1) repeats = Op<"expand">(repeats, Dims{x.size(axis)});
          if (repeats.numel() != x.size(axis)) {
            throw ValueError("repeat_interleave")
                .Got(repeats.numel(), " repeats")
                .Expected("one, or one for each of the ", x.size(axis), " places");
          }
          const Tensor places = Op<"repeat_places">(repeats);
          if (c.Given("output_size") && c.Int("output_size") != places.numel()) {
            throw ValueError("repeat_interleave")
                .Got("output_size ", c.Int("output_size"))
                .Expected("the sum of repeats, ", places.numel());
          }
          return {Op<"index_select">(x, axis, places)};
        });

}  // namespace
}  // namespace dragon
