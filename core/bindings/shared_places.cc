// Which calls read what they write: those whose results are written one by one while others are still read.
#include "core/bindings/shared_places.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/framework/apply.h"
#include "core/framework/tensor.h"

namespace dragon::python {

namespace {

/// The bytes from a tensor's first element to behind its last.
struct Reach {
  int64_t from = 0, to = 0;
};

Reach ReachOf(const Tensor& x) {
  int64_t last = x.offset();
  for (int i = 0; i < x.ndim(); ++i) last += x.strides()[i] * (x.shape()[i] - 1);
  return {x.offset() * x.item_size(), (last + 1) * x.item_size()};
}

/// Do they share memory, and not each element its own place? What lies apart in a pattern is let pass.
bool ShareInPart(const Tensor& x, const Tensor& out) {
  if (!x.numel() || !out.numel() || !IsDense(x.shape(), x.strides()) || !IsDense(out.shape(), out.strides())) {
    return false;
  }
  const Reach read = ReachOf(x), written = ReachOf(out);
  if (read.to <= written.from || written.to <= read.from) return false;
  return read.from != written.from || x.numel() != out.numel() || x.strides() != out.strides();
}

bool IsAmong(const std::string& name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::string_view kInOrder[] = {"cumsum", "cumprod", "sort", "copy"};
/// These read at other places than they write; the latter write over their first operand.
constexpr std::string_view kElsewhere[] = {"gather", "cat", "take", "masked_select", "index_select", "kthvalue"};
constexpr std::string_view kIntoFirst[] = {"scatter", "index_add", "index_copy", "put", "index_put"};

/// Asked only where memory is shared: calls are many, and those that share any are few.
bool IsRefused(const Operator& op, const Tensor& x, const Tensor& out, bool is_first) {
  if (IsAmong(op.name(), kElsewhere)) return x.numel() && out.numel();
  if (IsAmong(op.name(), kIntoFirst)) return !(is_first && x.is_same(out)) && x.numel() && out.numel();
  if (x.ndim() == 0 && op.name() == "masked_fill") return false;  // a number, which is read first
  return (op.pointwise || IsAmong(op.name(), kInOrder)) && ShareInPart(x, out);
}

ValueError Refusal(const std::string& who) {
  return ValueError(who)
      .Got("a tensor to write that shares a part of its memory with one to read")
      .Expected("memory apart, or the very same elements (clone it first)");
}

}  // namespace

void RefuseSharedPlaces(const Frontend* frontend, const Call& call, std::span<const Tensor> outs) {
  if (!frontend->resizes_destinations) return;
  for (const Tensor& out : outs) {
    if (!out.defined() || !out.impl()->storage) continue;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Tensor& x = call.inputs[i];
      if (!x.defined() || x.impl()->storage != out.impl()->storage) continue;
      if (x.is_same(out) && call.op->pointwise) continue;
      if (!IsRefused(*call.op, x, out, i == 0)) continue;
      throw Refusal(call.name());
    }
  }
}

void RefuseSharedWrite(const Frontend* frontend, const Tensor& x, std::span<const SubscriptItem> items,
                       const Tensor& source) {
  if (!frontend->resizes_destinations || IsAnyWrittenDown() || Door().tracer) return;
  if (!source.impl()->storage || source.impl()->storage != x.impl()->storage) return;
  const GradMode quiet(false);
  const Tensor place = dragon::GetItem(x, items);
  const bool is_view = place.impl()->storage == x.impl()->storage;  // else elements are written one by one
  if (is_view ? ShareInPart(source, place) : source.ndim() > 0 && source.numel() > 0) throw Refusal("index");
}

}  // namespace dragon::python
