// Searching, grouping and counting: unique, searchsorted, isin, bincount, the histograms.
#include <cmath>
#include <vector>

#include "core/framework/infer.h"
#include "core/framework/known.h"
#include "core/framework/op.h"
#include "core/kernels/sort.h"
#include "core/ops/index/indices.h"

namespace dragon {
namespace {

/// The groups of equal rows along an axis (or of equal elements): values, the group of each, and the sizes.
Tensors Groups(Run& c, bool sorted, bool inverse, bool counts, const Value& axis_value) {
  const Tensor& x = c.x(0);
  if (x.is_complex()) throw TypeError(c.name()).Got(x.dtype()).Expected("numbers that have an order");
  const bool all = axis_value.is_none();
  const int64_t axis = all ? 0 : NormalizeAxis(c.name(), axis_value.integer(), x.ndim());
  Tensor rows = all || x.ndim() == 0 ? Op<"reshape">(x, Dims{x.numel()}) : Op<"movedim">(x, Dims{axis}, Dims{0});
  rows = Op<"contiguous">(rows);
  const int64_t n = rows.size(0);
  if (n > 0 && rows.numel() == 0) {
    throw ValueError(c.name())
        .Got("rows without elements in shape ", x.shape())
        .Expected("an axis of size 0, or rows to compare");
  }
  const auto empty = [&](int64_t size) { return Tensor::Empty({size}, DType::kInt64, x.device()); };
  const Tensor order = empty(n), group = empty(n), starts = empty(n + 1);
  int64_t count = 0;
  kernels::Unique(c.ctx(), x.dtype(), order.mutable_view(), group.mutable_view(), starts.mutable_view(), &count,
                  rows.view(), sorted);
  const Tensor begins = Op<"slice">(starts, 0, 0, count), ends = Op<"slice">(starts, 0, 1, count + 1);
  Tensor values = Op<"index_select">(rows, 0, Op<"index_select">(order, 0, begins));
  if (!all && x.ndim() > 0) values = Op<"contiguous">(Op<"movedim">(values, Dims{0}, Dims{axis}));
  const Tensor nothing = empty(0);
  return {values, inverse ? (all ? Op<"reshape">(group, x.shape()) : group) : nothing,
          counts ? ends - begins : nothing};
}

/// What the groups look like before there are numbers.
void InferGroups(Infer& i) {
  const Tensor& x = i.x(0);
  if (x.is_complex()) throw TypeError(i.name()).Got(x.dtype()).Expected("numbers that have an order");
  const bool all = i.attr("axis").is_none();
  const int64_t count = AskSizeByNumbers();
  Dims values{count}, inverse = x.shape();
  if (!all && x.ndim() > 0) {
    const int64_t axis = NormalizeAxis(i.name(), i.attr("axis").integer(), x.ndim());
    values = x.shape();
    inverse = {values[axis]};
    values[axis] = count;
  }
  const Dims nothing{0};
  i.y(0, values, x.dtype());
  i.y(1, i.Bool("return_inverse") ? inverse : nothing, DType::kInt64);
  i.y(2, i.Bool("return_counts") ? Dims{count} : nothing, DType::kInt64);
}

void SetAll(Run& r, Tensors results) {
  for (size_t i = 0; i < results.size(); ++i) r.set_y(static_cast<int>(i), results[i]);
}

[[maybe_unused]] const auto& unique =
    DefineOp(
        "unique(Tensor x, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? axis=None)"
        " -> (Tensor values, Tensor inverse, Tensor counts)")
        .Doc(
            "The distinct elements, or rows along an axis, in ascending order; inverse and counts are empty unless "
            "asked for.")
        .Dynamic()
        .Infers(InferGroups)
        .NotDifferentiable()
        .Runs([](Run& r) {
          SetAll(r, Groups(r, /*sorted=*/true, r.Bool("return_inverse"), r.Bool("return_counts"), r.attr("axis")));
        });

[[maybe_unused]] const auto& unique_consecutive =
    DefineOp(
        "unique_consecutive(Tensor x, bool return_inverse=False, bool return_counts=False, int? axis=None)"
        " -> (Tensor values, Tensor inverse, Tensor counts)")
        .Doc("The first of every run of equal elements, or of equal rows along an axis.")
        .Dynamic()
        .Infers(InferGroups)
        .NotDifferentiable()
        .Runs([](Run& r) {
          SetAll(r, Groups(r, /*sorted=*/false, r.Bool("return_inverse"), r.Bool("return_counts"), r.attr("axis")));
        });

bool RightOf(const CallReader& c) {
  if (!c.Given("side")) return c.Bool("right");
  if (c.String("side") != "left" && c.String("side") != "right")
    throw ValueError(c.name()).Got("side '", c.String("side"), "'").Expected("left or right");
  if (c.String("side") == "left" && c.Bool("right"))
    throw ValueError(c.name()).Got("side 'left' and right=True").Expected("them to agree");
  return c.String("side") == "right";
}

void InferSearch(Infer& i) {
  const Tensor &edges = i.x("sorted_sequence"), &values = i.x("x");
  if (edges.is_complex()) throw TypeError("searchsorted").Got(edges.dtype()).Expected("numbers that have an order");
  bool fits = edges.ndim() == 1 || (edges.ndim() > 1 && edges.ndim() == values.ndim());
  for (int axis = 0; fits && edges.ndim() > 1 && axis + 1 < edges.ndim(); ++axis)
    fits = edges.size(axis) == values.size(axis);
  if (!fits) {
    throw ValueError("searchsorted")
        .Got("a sorted sequence of shape ", edges.shape(), " for values of shape ", values.shape())
        .Expected("a vector, or equal sizes before the last axis");
  }
  if (i.has("sorter") && i.x("sorter").shape() != edges.shape()) {
    throw ValueError("searchsorted")
        .Got("a sorter of shape ", i.x("sorter").shape())
        .Expected("shape ", edges.shape(), " of the sorted sequence");
  }
  if (i.has("sorter") && i.x("sorter").dtype() != DType::kInt64)
    throw TypeError("searchsorted").Got("a sorter of ", i.x("sorter").dtype()).Expected("int64");
  RightOf(i);
  i.y(0, values.shape(), i.Bool("out_int32") ? DType::kInt32 : DType::kInt64);
}

/// A search looks at a few places of the sorter only: all are looked at here, whatever is searched for.
void CheckSorter(Run& r) {
  if (!r.has("sorter")) return;
  const int64_t size = r.x("sorter").size(-1);
  int64_t least, most;
  kernels::IndexRange(r.ctx(), DType::kInt64, &least, &most, r.rows("sorter"));
  if (least >= 0 && most < size) return;
  throw IndexError("searchsorted").Got(least < 0 ? least : most, " in sorter").Expected("0 to ", size - 1);
}

void RunSearch(Run& r) {
  CheckSorter(r);
  const Tensor values = r.Contiguous("x");
  const Tensor places = r.Bool("out_int32") ? Tensor::Empty(values.shape(), DType::kInt64, values.device()) : r.y();
  kernels::SearchSorted(r.ctx(), r.dtype(), places.mutable_view(), r.rows("sorted_sequence"), values.view(),
                        r.rows("sorter"), RightOf(r));
  if (r.Bool("out_int32")) OpInto<"copy">(r.y(), places);
}

[[maybe_unused]] const auto& searchsorted =
    DefineOp(
        "searchsorted(Tensor sorted_sequence, Tensor x, *, bool out_int32=False, bool right=False, str? side=None, "
        "Tensor? sorter=None) -> Tensor")
        .Doc("The places where values would keep a sorted sequence sorted: before equals, or after them if right.")
        .Promotes(Promotion::kCommon)
        .PromotesOnly(3)
        .NotDifferentiable()
        .Infers(InferSearch)
        .Runs(RunSearch);

[[maybe_unused]] const auto& bucketize =
    DefineOp("bucketize(Tensor x, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor")
        .Doc("searchsorted with one vector of boundaries.")
        .As([](const CallReader& c) -> Tensors {
          if (c.x("boundaries").ndim() != 1)
            throw ValueError("bucketize").Got("boundaries of shape ", c.x("boundaries").shape()).Expected("a vector");
          return {Op<"searchsorted">(c.x("boundaries"), c.x("x"), c.Bool("out_int32"), c.Bool("right"))};
        });

[[maybe_unused]] const auto& isin =
    DefineOp("isin(Tensor x, Tensor tests, *, bool assume_unique=False, bool invert=False) -> Tensor")
        .Doc("Whether each element is one of the tests. What is assumed about uniqueness changes nothing.")
        .Batches(Batching::kRows, "", "tests")
        .Promotes(Promotion::kCommon)
        .NotDifferentiable()
        .Infers([](Infer& i) {
          if (i.x("x").is_complex()) throw TypeError("isin").Got(i.x("x").dtype()).Expected("real numbers");
          i.y(0, i.x("x").shape(), DType::kBool);
        })
        .Runs(
            [](Run& r) { kernels::IsIn(r.ctx(), r.dtype(), r.out(), r.rows("x"), r.rows("tests"), r.Bool("invert")); });

/// More bins than this cannot be meant, and would only end in an error about memory.
constexpr int64_t kMostBins = int64_t{1} << 40;

[[maybe_unused]] const auto& bincount =
    DefineOp("bincount(Tensor x, Tensor? weights=None, int minlength=0) -> Tensor")
        .Doc("How often each number from 0 on occurs, or the sum of its weights.")
        .Dynamic()
        .Infers([](Infer& i) {
          CheckIndexDType("bincount", i.x("x"));
          const bool short_sums = i.has("weights") && i.x("weights").dtype() == DType::kFloat32;
          const DType sums = short_sums ? DType::kFloat32 : DType::kFloat64;
          i.y(0, Dims{std::max(AskSizeByNumbers(), i.Int("minlength"))}, i.has("weights") ? sums : DType::kInt64);
        })
        .NotDifferentiable()
        .Runs([](Run& r) {
          CheckIndexDType("bincount", r.x("x"));
          if (r.x("x").ndim() != 1)
            throw ValueError("bincount").Got("x of shape ", r.x("x").shape()).Expected("a vector");
          if (r.has("weights") && r.x("weights").shape() != r.x("x").shape()) {
            throw ValueError("bincount")
                .Got("weights of shape ", r.x("weights").shape())
                .Expected(r.x("x").shape(), " like x");
          }
          if (r.has("weights") && r.x("weights").is_complex())
            throw TypeError("bincount").Got("complex weights").Expected("real ones");
          const Tensor x = AsInt64(r.x("x"));
          int64_t least, most;
          kernels::IndexRange(r.ctx(), DType::kInt64, &least, &most, x.view());
          if (least < 0) throw ValueError("bincount").Got(least, " in x").Expected("no number below 0");
          if (r.Int("minlength") < 0)
            throw ValueError("bincount").Got("minlength ", r.Int("minlength")).Expected("at least 0");
          const DType dtype = !r.has("weights")                           ? DType::kInt64
                              : r.x("weights").dtype() == DType::kFloat32 ? DType::kFloat32
                                                                          : DType::kFloat64;
          const Tensor weights =
              !r.has("weights") || r.x("weights").dtype() == dtype ? r.x("weights") : Op<"cast">(r.x("weights"), dtype);
          if (most >= kMostBins) throw ValueError("bincount").Got(most, " in x").Expected("less than ", kMostBins);
          r.set_y(0, Tensor::Empty({std::max(most + 1, r.Int("minlength"))}, dtype, x.device()));
          kernels::Bincount(r.ctx(), dtype, r.out(), x.view(), weights.defined() ? weights.view() : View{});
        });

/// The range of bins: as given, or that of the numbers if both ends are equal; never empty, so that equal numbers have
/// `reach` on both sides.
std::pair<double, double> BinRange(const char* who, const Tensor& x, double low, double high, double reach) {
  if (low > high || !std::isfinite(low) || !std::isfinite(high)) {
    throw ValueError(who).Got("a range from ", low, " to ", high).Expected("finite ends in order");
  }
  if (low == high && x.numel() > 0 && !x.is_meta()) {
    low = Op<"amin">(x).Item().real();
    high = Op<"amax">(x).Item().real();
    if (!std::isfinite(low) || !std::isfinite(high)) {
      throw ValueError(who).Got("numbers from ", low, " to ", high).Expected("finite numbers, or a range");
    }
  }
  if (low == high) low -= reach, high += reach;
  return {low, high};
}

[[maybe_unused]] const auto& histc =
    DefineOp("histc(Tensor x, int bins=100, float min=0, float max=0) -> Tensor")
        .Doc("How many numbers lie in each of `bins` equal parts from min to max.")
        .NotDifferentiable()
        .Infers([](Infer& i) {
          if (i.Int("bins") <= 0 || i.Int("bins") > kMostBins)
            throw ValueError("histc").Got(i.Int("bins"), " bins").Expected("at least 1");
          if (!i.x(0).is_floating()) throw TypeError("histc").Got(i.x(0).dtype()).Expected("a floating dtype");
          i.y(0, {i.Int("bins")}, i.x(0).dtype());
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          const auto [low, high] = BinRange("histc", x, r.Real("min"), r.Real("max"), 1);
          kernels::Histc(r.ctx(), r.dtype(), r.out(), x.view(), low, high);
        });

[[maybe_unused]] const auto& histogram_edges =
    DefineOp("histogram_edges(Tensor x, Tensor bins, Tensor? weight=None, bool density=False) -> Tensor")
        .Doc("How many numbers (or how much weight) lie between neighbouring edges, the last bin closed.")
        .NotDifferentiable()
        .Infers([](Infer& i) {
          const Tensor &x = i.x("x"), &bins = i.x("bins");
          if (bins.ndim() != 1 || bins.numel() < 2)
            throw ValueError("histogram")
                .Got("bins of shape ", bins.shape())
                .Expected("a vector of at least two edges");
          if (x.dtype() != bins.dtype() || (x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64)) {
            throw TypeError("histogram")
                .Got(x.dtype(), " and bins of ", bins.dtype())
                .Expected("both float32 or both float64");
          }
          if (i.has("weight") && (i.x("weight").shape() != x.shape() || i.x("weight").dtype() != x.dtype())) {
            throw ValueError("histogram")
                .Got("weight ", i.x("weight").dtype(), i.x("weight").shape())
                .Expected(x.dtype(), x.shape(), " like x");
          }
          i.y(0, {bins.numel() - 1}, x.dtype());
        })
        .Runs([](Run& r) {
          const Tensor edges = r.Contiguous("bins");
          kernels::Histogram(r.ctx(), r.dtype(), r.out(), r.rows("x"), edges.view(), r.rows("weight"));
          if (!r.Bool("density")) return;
          const int64_t bins = r.y().numel();
          const Tensor width = Op<"slice">(edges, 0, 1, bins + 1) - Op<"slice">(edges, 0, 0, bins);
          OpInto<"copy">(r.y(), r.y() / width / Op<"sum">(r.y()));
        });

[[maybe_unused]] const auto& histogram =
    DefineOp(
        "histogram(Tensor x, int bins, *, float[]? range=None, Tensor? weight=None, bool density=False)"
        " -> (Tensor hist, Tensor bin_edges)")
        .Doc("The histogram of all elements over equal bins, and the edges of those.")
        .Batches(Batching::kApart)
        .As([](const CallReader& c) -> Tensors {
          if (c.Int("bins") <= 0 || c.Int("bins") > kMostBins)
            throw ValueError("histogram").Got(c.Int("bins"), " bins").Expected("at least 1");
          double low = 0, high = c.x("x").numel() > 0 ? 0 : 1;
          if (c.Given("range")) {
            const std::vector<double>& range = c.attr("range").doubles();
            if (range.size() != 2) throw ValueError("histogram").Got(range.size(), " ends of a range").Expected("two");
            low = range[0], high = range[1];
            if (low == high) low -= 0.5, high += 0.5;
          }
          std::tie(low, high) = BinRange("histogram", c.x("x"), low, high, 0.5);
          const Tensor edges = Op<"linspace">(low, high, c.Int("bins") + 1, c.x("x").dtype(), c.x("x").device());
          return {Op<"histogram_edges">(c.x("x"), edges, c.x("weight"), c.Bool("density")), edges};
        });

}  // namespace
}  // namespace dragon
