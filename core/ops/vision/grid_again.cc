// grid_sample is a sum over neighbours: y = sum of weight(grid) * x[place]. Its gradients are sums with the weights'
// slopes in them, theirs with the slopes' slopes. A weight is a product of one polynomial for each axis, in the
// fraction of the position that lies behind its neighbour.
#include "core/ops/vision/grid_again.h"

#include <vector>

#include "core/framework/infer.h"

namespace dragon {

namespace {

/// Coefficients of 1, f, f^2, f^3.
using Polynomial = std::array<double, 4>;

/// What each neighbour along an axis weighs, from the first on: that before the position, or for cubic the one before.
std::vector<Polynomial> WeightsOf(GridMode mode) {
  if (mode == GridMode::kNearest) return {{1, 0, 0, 0}};
  if (mode == GridMode::kLinear) return {{1, -1, 0, 0}, {0, 1, 0, 0}};
  constexpr double a = -0.75;  // Keys' kernel
  return {{0, a, -2 * a, a}, {1, 0, -(a + 3), a + 2}, {0, -a, 2 * a + 3, -(a + 2)}, {0, 0, a, -a}};
}

Polynomial SlopeOf(const Polynomial& p) { return {p[1], 2 * p[2], 3 * p[3], 0}; }

Tensor At(const Polynomial& p, const Tensor& f) {
  Tensor sum = Op<"full_like">(f, p[0]);
  Tensor power = f;
  for (int i = 1; i < 4; ++i) {
    if (p[i] != 0) sum = sum + power * p[i];
    if (i < 3) power = power * f;
  }
  return sum;
}

Tensor Truth(const Tensor& condition, DType dtype) { return Op<"cast">(condition, dtype); }

/// A position along one axis, and how it moves with the grid's coordinate. The motion is constant nearly everywhere.
struct Position {
  Tensor at, slope;
};

/// A NaN lies on an edge, as every comparison fails.
Position Clamp(const Position& p, int64_t size) {
  const double high = static_cast<double>(size - 1);
  const Tensor inside = Op<"logical_and">(Op<"gt">(p.at, Number(0.0)), Op<"lt">(p.at, Number(high)));
  const Tensor edge = Op<"cast">(Op<"ge">(p.at, Number(high)), p.at.dtype()) * high;
  return {Op<"where">(inside, p.at, edge), p.slope * Truth(inside, p.at.dtype())};
}

/// Mirror at both ends of [low, high], as often as it takes.
Position Reflect(const Position& p, double low, double high) {
  if (low == high) return {Op<"zeros_like">(p.at), Op<"zeros_like">(p.at)};
  const double span = high - low;
  const Tensor from = p.at - low;
  const Tensor sign = Op<"where">(Op<"lt">(from, Number(0.0)), Op<"full_like">(from, -1.0), Op<"full_like">(from, 1.0));
  const Tensor away = from * sign;
  const Tensor times = Op<"floor">(away / span);
  const Tensor rest = away - times * span;
  const Tensor odd = Op<"ne">(Op<"remainder">(times, Number(2.0)), Number(0.0));
  return {Op<"where">(odd, (span + low) - rest, rest + low), p.slope * Op<"where">(odd, -sign, sign)};
}

Position Pad(const Position& p, int64_t size, const GridReading& how) {
  if (how.padding == GridPadding::kZeros) return p;
  if (how.padding == GridPadding::kBorder) return Clamp(p, size);
  const double last = static_cast<double>(size - 1);
  return Clamp(how.align_corners ? Reflect(p, 0, last) : Reflect(p, -0.5, last + 0.5), size);
}

/// A neighbour along one axis: its element, its weight, and the first two slopes of that by the grid's coordinate.
struct Neighbour {
  Tensor element;    ///< within the image
  Tensor weight[3];  ///< 0 where there is no such element
};

std::vector<Neighbour> Neighbours(const Tensor& coordinate, int64_t size, const GridReading& how) {
  const double n = static_cast<double>(size), scale = how.align_corners ? (n - 1) / 2 : n / 2;
  Position p{how.align_corners ? (coordinate + 1.0) * scale : (coordinate + 1.0) * scale - 0.5,
             Op<"full_like">(coordinate, scale)};
  const bool each = how.mode == GridMode::kCubic;  // neighbours are padded each for itself
  if (!each) p = Pad(p, size, how);
  const Tensor first = how.mode == GridMode::kNearest ? Op<"round">(p.at) : Op<"floor">(p.at) - (each ? 1.0 : 0.0);
  // Only the fraction moves. A position that is none, or endless, has no neighbours: its weights are 0, not 0 times
  // NaN.
  const Tensor fraction = Op<"where">(Op<"isfinite">(p.at), p.at - Op<"floor">(p.at), Op<"zeros_like">(p.at));
  std::vector<Neighbour> found;
  const std::vector<Polynomial> weights = WeightsOf(how.mode);
  for (size_t k = 0; k < weights.size(); ++k) {
    Tensor at = first + static_cast<double>(k);
    if (each) at = Pad({at, p.slope}, size, how).at;
    const Tensor inside = Op<"logical_and">(Op<"ge">(at, Number(0.0)), Op<"lt">(at, Number(n)));
    const Tensor there = Truth(inside, coordinate.dtype());
    Neighbour neighbour;
    neighbour.element = Op<"cast">(Op<"where">(inside, at, Op<"zeros_like">(at)), DType::kInt64);
    Polynomial weight = weights[k];
    Tensor moved = there;
    for (Tensor& order : neighbour.weight) {
      order = At(weight, fraction) * moved;
      weight = SlopeOf(weight);
      moved = moved * p.slope;
    }
    found.push_back(std::move(neighbour));
  }
  return found;
}

/// Sizes and the arguments in rows: places of the image are one axis, and so are the points.
class Sums {
 public:
  Sums(const Tensor& dy, const Tensor& x, const Tensor& grid, const GridReading& reading, const Tensor& to_dx,
       const Tensor& to_dgrid)
      : axes_(x.ndim() - 2), by_axis_(axes_) {
    const int64_t samples = x.size(0), channels = x.size(1);
    int64_t points = 1, places = 1;
    for (int axis = 0; axis < axes_; ++axis) {
      sizes_.push_back(x.shape()[axis + 2]);
      points *= grid.shape()[axis + 1], places *= sizes_[axis];
    }
    const Dims in_rows{samples, 1, points, axes_}, flat_image{samples, channels, places};
    const auto component = [&](const Tensor& of, int axis) {  // x first
      return Op<"select">(Op<"reshape">(of, in_rows), 3, int64_t{axes_ - 1 - axis});
    };
    for (int axis = 0; axis < axes_; ++axis) {
      along_.push_back(Neighbours(component(grid, axis), sizes_[axis], reading));
      if (to_dgrid.defined()) toward_.push_back(component(to_dgrid, axis));
    }
    dy_ = Op<"reshape">(dy, Dims{samples, channels, points});
    image_ = Op<"reshape">(x, flat_image);
    if (to_dx.defined()) other_ = Op<"reshape">(to_dx, flat_image);
  }

  /// Add the neighbour that is the k-th along each axis.
  void Take(const std::vector<size_t>& k) {
    k_ = &k;
    const Tensor element = Element();
    if (other_.defined()) {
      const Tensor read = Op<"gather">(other_, 2, element);
      Add(&sum_.dy, Weight() * read);
      const auto dot = Op<"sum">(dy_ * read, Dims{1}, true);
      for (int axis = 0; axis < axes_; ++axis) Add(&by_axis_[axis], dot * Weight(axis));
    }
    if (toward_.empty()) return;
    Tensor drift;  // how the weight changes where the points go
    for (int axis = 0; axis < axes_; ++axis) Add(&drift, Weight(axis) * toward_[axis]);
    const Tensor read = Op<"gather">(image_, 2, element);
    Add(&sum_.dy, drift * read);
    Add(&sum_.x, Op<"scatter_add">(Op<"zeros_like">(image_), 2, element, dy_ * drift));
    const auto dot = Op<"sum">(dy_ * read, Dims{1}, true);
    for (int axis = 0; axis < axes_; ++axis) {
      Tensor bend;
      for (int next = 0; next < axes_; ++next) Add(&bend, Weight(axis, next) * toward_[next]);
      Add(&by_axis_[axis], dot * bend);
    }
  }

  GridAgain Finish(const Dims& dy_shape, const Dims& x_shape, const Dims& grid_shape) {
    if (sum_.dy.defined()) sum_.dy = Op<"reshape">(sum_.dy, dy_shape);
    if (sum_.x.defined()) sum_.x = Op<"reshape">(sum_.x, x_shape);
    if (!by_axis_[0].defined()) return sum_;
    const std::vector<Tensor> components(by_axis_.rbegin(), by_axis_.rend());
    sum_.grid = Op<"reshape">(Op<"stack">(components, -1), grid_shape);
    return sum_;
  }

  bool Next(std::vector<size_t>* k) const {
    for (int axis = 0; axis < axes_; ++axis) {
      if (++(*k)[axis] < along_[axis].size()) return true;
      (*k)[axis] = 0;
    }
    return false;
  }

 private:
  static void Add(Tensor* sum, const Tensor& term) { *sum = sum->defined() ? *sum + term : term; }

  /// The neighbour's place in the image, for all channels.
  Tensor Element() const {
    Tensor element;
    for (int axis = 0; axis < axes_; ++axis) {
      const Tensor& here = along_[axis][(*k_)[axis]].element;
      element = axis ? Op<"mul">(element, Number(sizes_[axis])) + here : here;
    }
    return Op<"broadcast_to">(element, dy_.shape());
  }

  /// The neighbour's weight, or its slope along one axis, or the slope of that along another.
  Tensor Weight(int one = -1, int two = -1) const {
    Tensor product;
    for (int axis = 0; axis < axes_; ++axis) {
      const Tensor& factor = along_[axis][(*k_)[axis]].weight[(axis == one) + (axis == two)];
      product = axis ? product * factor : factor;
    }
    return product;
  }

  int axes_;
  std::vector<int64_t> sizes_;
  std::vector<std::vector<Neighbour>> along_;
  std::vector<Tensor> toward_, by_axis_;
  Tensor dy_, image_, other_;
  const std::vector<size_t>* k_ = nullptr;
  GridAgain sum_;
};

}  // namespace

GridAgain GridSampleAgain(const Tensor& dy, const Tensor& x, const Tensor& grid, const GridReading& reading,
                          const Tensor& to_dx, const Tensor& to_dgrid) {
  Sums sums(dy, x, grid, reading, to_dx, to_dgrid);
  std::vector<size_t> k(x.ndim() - 2, 0);
  do sums.Take(k);
  while (sums.Next(&k));
  return sums.Finish(dy.shape(), x.shape(), grid.shape());
}

}  // namespace dragon
