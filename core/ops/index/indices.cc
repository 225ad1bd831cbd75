// Preparation of index tensors, shared by everything that reads or writes at computed places.
#include "core/ops/index/indices.h"

#include "core/kernels/arrange.h"

namespace dragon {

namespace {

bool MasksElements(const Tensor& index) {
  return index.defined() && (index.dtype() == DType::kBool || index.dtype() == DType::kUInt8);
}

}  // namespace

void CheckIndexDType(const char* who, const Tensor& index) {
  if (!IsIntegral(index.dtype())) throw TypeError(who).Got("an index of ", index.dtype()).Expected("integers");
}

Tensor AsInt64(const Tensor& index) {
  return index.dtype() == DType::kInt64 ? index : Op<"cast">(index, DType::kInt64);
}

Tensor SpreadIndex(const Tensor& index, int64_t axis, const Dims& shape) {
  if (shape.empty()) return Op<"view">(index, shape);
  Dims lone = Dims::Filled(shape.size(), 1);
  lone[axis] = index.numel();
  return Op<"expand">(Op<"view">(Op<"contiguous">(index), lone), shape);
}

void CopyUnlessSame(Run& r, const Tensor& y, const Tensor& x) {
  const bool same = y.impl()->storage == x.impl()->storage && y.offset() == x.offset();
  if (!same) kernels::Move(r.ctx(), y.dtype(), y.mutable_view(), x.view());
}

std::vector<Tensor> WithoutMasks(const char* who, Tensor* x, std::span<const Tensor> indices) {
  std::vector<Tensor> plain;
  for (const Tensor& index : indices) {
    if (!MasksElements(index)) {
      plain.push_back(index);
      continue;
    }
    if (index.is_meta()) {
      throw NotImplementedError(who)
          .Got("a mask on meta")
          .Expected("a mask with numbers, which the result's shape depends on");
    }
    const int axis = static_cast<int>(plain.size());
    if (index.ndim() == 0) {
      *x = Op<"unsqueeze">(*x, axis);
      plain.push_back(Op<"zeros">(Dims{index.Item().boolean() ? 1 : 0}, DType::kInt64, x->device()));
      continue;
    }
    for (int n = 0; n < index.ndim(); ++n) {
      if (axis + n < x->ndim() && index.size(n) == x->size(axis + n)) continue;
      throw IndexError(who)
          .Got("a mask of shape ", index.shape(), " at axis ", axis, " of shape ", x->shape())
          .Expected("equal sizes");
    }
    const Tensor places = Op<"nonzero">(index);
    for (int n = 0; n < index.ndim(); ++n) plain.push_back(Op<"select">(places, 1, n));
  }
  return plain;
}

IndexShape ShapeOfIndexed(const char* who, const Tensor& x, std::span<const Tensor> indices) {
  const int count = static_cast<int>(indices.size());
  if (count > x.ndim())
    throw IndexError(who).Got(count, " indices").Expected("at most one per axis of shape ", x.shape());
  IndexShape result;
  int first = -1, last = -1, given = 0;
  for (int axis = 0; axis < count; ++axis) {
    if (!indices[axis].defined()) continue;
    CheckIndexDType(who, indices[axis]);
    try {
      result.broadcast = given ? BroadcastShapes(who, result.broadcast, indices[axis].shape()) : indices[axis].shape();
    } catch (const Error& error) {
      throw Error(ErrorKind::kIndex, error.what());
    }
    if (first < 0) first = axis;
    last = axis;
    ++given;
  }
  if (given == 0) throw ValueError(who).Got("no index").Expected("at least one");
  result.at = last - first + 1 == given ? first : 0;
  Dims shape;
  int kept = 0;
  const auto insert = [&] {
    for (int64_t size : result.broadcast) shape.push_back(size);
  };
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (axis < count && indices[axis].defined()) continue;
    if (kept++ == result.at) insert();
    shape.push_back(x.size(axis));
  }
  if (kept <= result.at) insert();
  if (shape.size() > kMaxDims) throw ValueError(who).Got(shape.size(), " axes").Expected("at most ", kMaxDims);
  result.shape = std::move(shape);
  CheckedNumel(who, result.shape, x.item_size());
  return result;
}

IndexViews::IndexViews(const Run& r, const Tensor& x, const Dims& broadcast)
    : broadcast_(broadcast), tensors_(x.ndim()), strides_(x.ndim()), views_(x.ndim()) {
  const auto indices = r.list("indices");
  int64_t numel = 1;
  for (int64_t size : broadcast_) numel *= size;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    if (!indices[axis].defined()) continue;
    tensors_[axis] = AsInt64(r.Here(indices[axis]));
    strides_[axis] = ExpandedStrides(tensors_[axis], broadcast_);
    views_[axis] = {const_cast<void*>(tensors_[axis].data()),
                    broadcast_.data(),
                    strides_[axis].data(),
                    numel,
                    broadcast_.size(),
                    DType::kInt64};
  }
}

}  // namespace dragon
