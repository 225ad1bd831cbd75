// What a write makes of the value that memory holds.
#include "core/framework/op.h"
#include "core/framework/trace.h"

namespace dragon {

namespace {

/// Every element of the tensor's memory belongs to the tensor, once.
bool FillsMemory(const Tensor& tensor) {
  return tensor.offset() == 0 && IsDense(tensor.shape(), tensor.strides()) &&
         static_cast<size_t>(tensor.numel() * tensor.item_size()) == tensor.impl()->storage->bytes;
}

}  // namespace

/// A destination that covers the whole cell gets the value as it is.
bool Trace::WriteWhole(Cell& cell, const Tensor& tensor, ValueId value) {
  const Geometry geometry(tensor);
  const ValueInfo& info = graph_.values[value];
  const Dims strides = info.strides.empty() ? ContiguousStrides(info.shape) : info.strides;
  if (geometry == cell.whole) {
    // The call may have chosen another order of axes in memory than its destination has.
    const bool alike = strides == geometry.strides || tensor.numel() <= 1;
    if (!alike) value = Emit("write_view", {cell.value, value}, {geometry.shape, geometry.strides, int64_t{0}});
    cell.value = value;
    return true;
  }
  if (cell.whole.dtype != geometry.dtype || cell.whole.offset != geometry.offset) return false;
  const bool both_row_major =
      IsContiguous(geometry.shape, geometry.strides) && IsContiguous(cell.whole.shape, cell.whole.strides);
  int64_t mine = 1, whole = 1;
  for (int64_t size : geometry.shape) mine *= size;
  for (int64_t size : cell.whole.shape) whole *= size;
  if (!both_row_major || mine != whole) return false;
  if (!graph_.values[value].strides.empty()) value = Emit("to_row_major", {value}, {});
  cell.value = Emit("view", {value}, {cell.whole.shape});
  return true;
}

void Trace::Write(const Tensor& tensor, ValueId value, bool constant) {
  if (tensor.numel() == 0) return;
  const bool ours = IsOurs(tensor);
  Cell* known = Known(tensor);
  if (known && known->made.defined()) Read(tensor), known = Known(tensor);
  const ValueInfo& info = graph_.values[value];
  const bool alike = tensor.strides() == (info.strides.empty() ? ContiguousStrides(info.shape) : info.strides);
  if (!known && FillsMemory(tensor) && ours && alike) {
    Begin(tensor, value, constant);
    return;
  }
  if (!known && ours) {
    const int64_t elements = static_cast<int64_t>(tensor.impl()->storage->bytes) / tensor.item_size();
    const Tensor all = tensor.Alias({elements}, {1}, 0);
    Begin(all, Emit("zeros", {}, {Dims{elements}, tensor.dtype(), tensor.device()}), true);
  } else if (!known) {
    const Tensor base(tensor.impl()->base);
    AddOutside(CellOf(tensor), base.defined() && base.impl()->storage == tensor.impl()->storage ? base : tensor);
  }
  Cell& cell = *Known(tensor);
  if (cell.inputs.size() > 1) {
    GiveUp("a write to memory that several tensors from outside share");
    return;
  }
  // What is written becomes a new value, and new values have no gaps: strides would count other elements.
  if (!IsDense(cell.whole.shape, cell.whole.strides)) {
    GiveUp("a write to a tensor from outside whose elements lie with gaps in memory");
    return;
  }
  if (!WriteWhole(cell, tensor, value)) {
    const Geometry geometry(tensor);
    const int64_t offset = geometry.offset - cell.whole.offset;
    if (geometry.dtype != cell.whole.dtype || offset < 0) {
      GiveUp("a write through a view of another dtype or outside of what is known");
      return;
    }
    const ValueId base = cell.value;
    cell.value = Emit("write_view", {base, value}, {geometry.shape, geometry.strides, offset});
    constant = constant && constant_[base];
  }
  constant_[cell.value] = constant;
  cell.constant = constant;
  cell.written = true;
  cell.views.assign(1, {cell.whole, cell.value, {}});
}

}  // namespace dragon
