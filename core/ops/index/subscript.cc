// Python's subscripts: everything between the brackets that only moves strides becomes one view, the rest one index.
#include "core/ops/index/subscript.h"

#include <vector>

#include "core/framework/number.h"
#include "core/ops/array/geometry.h"
#include "core/ops/index/indices.h"

namespace dragon {
namespace {

using Kind = SubscriptItem::Kind;

bool IsMask(const Tensor& index) { return index.dtype() == DType::kBool || index.dtype() == DType::kUInt8; }

/// A slice whose step is below 0, as start, count and a positive step: its places are then taken in reverse.
struct Reversed {
  int64_t start, count, step;
};

Reversed Resolve(const SubscriptItem& item, int64_t size) {
  const auto bound = [&](bool given, int64_t value, int64_t otherwise) {
    if (!given) return otherwise;
    return std::clamp<int64_t>(value < 0 ? value + size : value, -1, size - 1);
  };
  const int64_t start = bound(item.has_start, item.start, size - 1);
  const int64_t stop = std::min(start, bound(item.has_stop, item.stop, -1));
  const int64_t stride = item.step == INT64_MIN ? INT64_MAX : -item.step;
  const int64_t count = (start - stop) / stride + ((start - stop) % stride != 0);
  return {count > 0 ? start - (count - 1) * stride : 0, count, stride};
}

int64_t WrappedIndex(int64_t index, int64_t axis, int64_t size) {
  const int64_t wrapped = index < 0 ? index + size : index;
  if (wrapped >= 0 && wrapped < size) return wrapped;
  throw IndexError("index")
      .Got("index ", index, " for axis ", axis)
      .Expected(-size, " to ", size - 1, " as it has size ", size);
}

/// A 0-d integer tensor counts as the integer it holds.
bool IsInteger(const SubscriptItem& item) {
  return item.kind == Kind::kInteger || (item.kind == Kind::kTensor && item.tensor.ndim() == 0 && !IsMask(item.tensor));
}
int64_t IntegerOf(const SubscriptItem& item) {
  if (item.kind == Kind::kInteger) return item.start;
  CheckIndexDType("index", item.tensor);
  return item.tensor.Item().integer();
}

/// How many axes of x an item stands for.
int AxesOf(const SubscriptItem& item) {
  switch (item.kind) {
    case Kind::kInteger:
    case Kind::kSlice:
      return 1;
    case Kind::kTensor:
      return IsMask(item.tensor) ? item.tensor.ndim() : 1;
    default:
      return 0;
  }
}

/// The items taken apart: what one view does, which of its axes to reverse, and what is left for index tensors.
struct Parts {
  Dims view;                    ///< the attribute of `subview`
  bool moves = false;           ///< the view differs from x
  Dims reversed;                ///< axes of the view
  std::vector<Tensor> indices;  ///< one per axis of the view, undefined where kept
  int advanced = 0;             ///< how many of them are defined, a mask counting once
};

class Parser {
 public:
  Parser(const Tensor& x, std::span<const SubscriptItem> items) : x_(x), items_(items) {}

  Parts Parse() {
    int named = 0, ellipses = 0;
    for (const SubscriptItem& item : items_) {
      named += AxesOf(item);
      ellipses += item.kind == Kind::kEllipsis;
    }
    if (named > x_.ndim()) {
      throw IndexError("index")
          .Got("subscripts for ", named, " axes")
          .Expected("at most ", x_.ndim(), " for shape ", x_.shape());
    }
    if (ellipses > 1) throw IndexError("index").Got(ellipses, " ellipses").Expected("at most one");
    for (const SubscriptItem& item : items_) Take(item, x_.ndim() - named);
    return std::move(parts_);
  }

 private:
  void Take(const SubscriptItem& item, int left) {
    if (IsInteger(item)) {
      Append({kSubviewSelect, WrappedIndex(IntegerOf(item), axis_, x_.size(axis_))});
      ++axis_;
    } else if (item.kind == Kind::kSlice) {
      TakeSlice(item);
    } else if (item.kind == Kind::kEllipsis) {
      Keep(left);
    } else if (item.kind == Kind::kTensor && !(IsMask(item.tensor) && item.tensor.ndim() == 0)) {
      TakeTensor(item.tensor);
    } else {
      Append({kSubviewNew});
      if (item.kind != Kind::kNone) TakeBool(item.kind == Kind::kBool ? item.start != 0 : item.tensor.Item().boolean());
      ++out_;
    }
  }

  /// Bounds stay as they were written, so that they hold for axes of other sizes.
  void TakeSlice(const SubscriptItem& item) {
    if (item.step == 0) throw ValueError("index").Got("a slice with step 0").Expected("any other step");
    const int64_t size = x_.size(axis_++);
    if (item.step > 0) {
      Append({kSubviewRange, item.has_start ? item.start : 0, item.has_stop ? item.stop : kToTheEnd, item.step});
    } else {
      const Reversed places = Resolve(item, size);
      Append({kSubviewSlice, places.start, places.count, places.step});
      if (places.count > 1) parts_.reversed.push_back(out_);
    }
    ++out_;
  }

  void TakeTensor(const Tensor& index) {
    if (!IsMask(index)) CheckIndexDType("index", index);
    const int axes = IsMask(index) ? index.ndim() : 1;
    for (int n = 0; IsMask(index) && n < axes; ++n) {
      if (index.size(n) == x_.size(axis_ + n)) continue;
      throw IndexError("index")
          .Got("a mask of shape ", index.shape(), " at axis ", axis_, " of shape ", x_.shape())
          .Expected("equal sizes");
    }
    AddIndex(index);
    Keep(axes);
  }
  /// True and False choose all or none of a new axis of size 1.
  void TakeBool(bool value) { AddIndex(Op<"zeros">(Dims{value ? 1 : 0}, DType::kInt64, x_.device())); }

  void AddIndex(const Tensor& index) {
    // `index` counts a mask as one entry for several axes, so undefined entries stand for kept axes only.
    parts_.indices.resize(out_ - masked_axes_);
    parts_.indices.push_back(index);
    if (IsMask(index)) masked_axes_ += index.ndim() - 1;
    ++parts_.advanced;
  }
  void Keep(int axes) {
    if (axes > 0) {
      parts_.view.push_back(kSubviewKeep);
      parts_.view.push_back(axes);
    }
    axis_ += axes;
    out_ += axes;
  }
  void Append(std::initializer_list<int64_t> words) {
    for (int64_t word : words) parts_.view.push_back(word);
    parts_.moves = true;
  }

  const Tensor& x_;
  std::span<const SubscriptItem> items_;
  Parts parts_;
  int axis_ = 0, out_ = 0;
  int masked_axes_ = 0;  ///< axes of the view beyond the first of each mask so far
};

/// Go through the door with attributes that are ready: nothing is cheaper, and subscripts are called most of all.
Tensor ApplyView(const Operator& op, const Tensor& x, std::span<const Value> attrs) {
  Tensors results = Apply(Call{&op, {&x, 1}, attrs, {}});
  return std::move(results[0]);
}
Tensor Subviewed(const Tensor& x, Dims items) {
  const Value attrs[] = {std::move(items)};
  return ApplyView(OpNamed<"subview">(), x, attrs);
}

Tensor Viewed(const Tensor& x, const Parts& parts) { return parts.moves ? Subviewed(x, parts.view) : x; }

/// The frequent single items, which need no parsing. False if the item is another.
bool GetSimple(const Tensor& x, const SubscriptItem& item, Tensor* y) {
  if (item.kind == Kind::kInteger && x.ndim() > 0) {
    const Value attrs[] = {int64_t{0}, item.start};
    *y = ApplyView(OpNamed<"select">(), x, attrs);
  } else if (item.kind == Kind::kSlice && item.step > 0 && x.ndim() > 0) {
    const Value attrs[] = {int64_t{0}, item.has_start ? item.start : 0, item.has_stop ? Value(item.stop) : Value(),
                           item.step};
    *y = ApplyView(OpNamed<"slice">(), x, attrs);
  } else if (item.kind == Kind::kNone) {
    *y = Op<"unsqueeze">(x, 0);
  } else {
    return false;
  }
  return true;
}

/// The value as large as `shape`; axes of size 1 in front that the target lacks are dropped, as NumPy does.
Tensor Fit(Tensor value, const Dims& shape) {
  while (value.ndim() > shape.size() && value.size(0) == 1) value = Op<"select">(value, 0, 0);
  return value.shape() == shape ? value : Op<"expand">(value, shape);
}

/// Index tensors on top of reversed slices: writes go through a list of flat places.
void SetByPlaces(const Tensor& x, std::span<const SubscriptItem> items, const Tensor& value) {
  const Tensor places = Op<"reshape">(Op<"arange">(x.numel(), None, 1, DType::kInt64, x.device()), x.shape());
  const Tensor chosen = GetItem(places, items);
  OpInto<"copy">(x, Op<"put">(x, chosen, Fit(value, chosen.shape())));
}

}  // namespace

Tensor GetItem(const Tensor& x, std::span<const SubscriptItem> items) {
  Tensor y;
  if (items.size() == 1 && GetSimple(x, items[0], &y)) return y;
  Parts parts = Parser(x, items).Parse();
  if (parts.advanced == 0) {
    y = Subviewed(x, std::move(parts.view));
    return parts.reversed.empty() ? y : Op<"flip">(y, parts.reversed);
  }
  y = Viewed(x, parts);
  if (!parts.reversed.empty()) y = Op<"flip">(y, parts.reversed);
  if (parts.advanced == 1 && parts.indices.size() == 1 && IsMask(parts.indices[0]) &&
      parts.indices[0].ndim() == y.ndim()) {
    const Tensor& mask = parts.indices[0];
    return Op<"masked_select">(y, mask.dtype() == DType::kBool ? mask : Op<"cast">(mask, DType::kBool));
  }
  return Op<"index">(y, parts.indices);
}

void SetItem(const Tensor& x, std::span<const SubscriptItem> items, const Tensor& given) {
  Parts parts = Parser(x, items).Parse();
  // Without index tensors the copy casts by itself, but a bare number must be one that x takes.
  const bool casts = parts.advanced > 0 || given.impl()->weak;
  const Tensor value = casts ? CastOrRefuse("index", given, x.dtype()) : given;
  const bool from_host = value.ndim() == 0 && value.device().is_cpu() && !x.device().is_cpu();
  if (parts.advanced > 0 && !parts.reversed.empty()) {
    return SetByPlaces(x, items, from_host ? Op<"to_device">(value, x.device()) : value);
  }
  const Tensor target = Viewed(x, parts);
  if (parts.advanced == 0) {
    if (from_host && given.impl()->weak) return OpInto<"fill">(target, target, value.Item());
    Tensor source = Fit(value, target.shape());
    if (!parts.reversed.empty()) source = Op<"flip">(source, parts.reversed);
    OpInto<"copy">(target, source);
    return;
  }
  const Tensor& last = parts.indices.back();
  if (parts.advanced == 1 && IsMask(last) && value.numel() == 1) {
    Dims shape = last.shape();
    shape.resize(target.ndim() - static_cast<int64_t>(parts.indices.size()) + 1, 1);
    const Tensor mask = Op<"reshape">(last.dtype() == DType::kBool ? last : Op<"cast">(last, DType::kBool), shape);
    OpInto<"masked_fill">(target, target, mask, Op<"reshape">(value, Dims{}));
    return;
  }
  Tensor base = target;
  const std::vector<Tensor> places = WithoutMasks("index_put", &base, parts.indices);
  const Dims shape = ShapeOfIndexed("index_put", target, places).shape;
  // A number of the host goes anywhere as long as it has no axes.
  OpInto<"index_write">(target, target, places, from_host ? value : Fit(value, shape));
}

Dims WordsOf(std::span<const SubscriptItem> items, std::vector<Tensor>* tensors) {
  Dims words;
  for (const SubscriptItem& item : items) {
    const int64_t bounds = item.has_start + 2 * item.has_stop;
    for (int64_t word : {static_cast<int64_t>(item.kind), bounds, item.start, item.stop, item.step}) {
      words.push_back(word);
    }
    if (item.kind == Kind::kTensor) tensors->push_back(item.tensor);
  }
  return words;
}

namespace {

InlineVector<SubscriptItem, 4> ItemsOf(const CallReader& c) {
  const Dims& words = c.Ints("items");
  const std::span<const Tensor> tensors = c.list("indices");
  InlineVector<SubscriptItem, 4> items;
  size_t used = 0;
  if (words.size() % kSubscriptWords != 0) {
    throw ValueError(c.name()).Got(words.size(), " words").Expected("a multiple of ", kSubscriptWords);
  }
  for (int i = 0; i < words.size(); i += kSubscriptWords) {
    SubscriptItem item;
    if (words[i] < 0 || words[i] > static_cast<int64_t>(Kind::kTensor)) {
      throw ValueError(c.name()).Got("item of kind ", words[i]).Expected("0 to ", static_cast<int>(Kind::kTensor));
    }
    item.kind = static_cast<Kind>(words[i]);
    item.has_start = words[i + 1] & 1, item.has_stop = words[i + 1] & 2;
    item.start = words[i + 2], item.stop = words[i + 3], item.step = words[i + 4];
    if (item.kind == Kind::kTensor) {
      if (used == tensors.size()) throw ValueError(c.name()).Got(used, " tensors").Expected("one for each such item");
      item.tensor = tensors[used++];
    }
    items.push_back(item);
  }
  return items;
}

[[maybe_unused]] const auto& subscript =
    DefineOp("subscript(Tensor x, Tensor[] indices, *, int[] items) -> Tensor y")
        .Doc("x[...]: what stands between the brackets, as five integers for each item and the tensors among them.")
        .As([](const CallReader& c) -> Tensors { return {GetItem(c.x(0), ItemsOf(c))}; });
[[maybe_unused]] const auto& subscript_write =
    DefineOp("subscript_write(Tensor! x, Tensor value, Tensor[] indices, *, int[] items) -> Tensor y")
        .Doc("x[...] = value, with items as of `subscript`; the result is x.")
        .As([](const CallReader& c) -> Tensors {
          SetItem(c.x(0), ItemsOf(c), c.x("value"));
          return {c.x(0)};
        });

}  // namespace

}  // namespace dragon
