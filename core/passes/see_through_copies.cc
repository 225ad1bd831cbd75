// Attention reads its operands at any strides, so what was copied only to be seen in another shape need not be: the
// view of the copy becomes a view of what was copied.
#include <algorithm>
#include <unordered_map>

#include "core/framework/op.h"
#include "core/passes/pass.h"
#include "core/passes/simplify.h"

namespace dragon {
namespace {

/// A view of a row-major copy: where its elements are in the copy's memory.
struct Seen {
  ValueId source = kNoValue;  ///< what was copied
  Dims shape, strides;
  int64_t offset = 0;
};

/// The chain of views down from `id` to a copy, outermost first; the copy is the last.
std::optional<Seen> CopyUnder(const Simplifier& s, ValueId id) {
  std::vector<const GraphCall*> views;
  const GraphCall* maker = s.Maker(id);
  for (; maker && maker->op->view; maker = s.Maker(maker->inputs[0])) {
    if (!maker->symbolic.empty() || maker->op->name() == "view_dtype") return std::nullopt;
    views.push_back(maker);
  }
  if (!maker || maker->op->name() != "to_row_major" || !s.info(maker->inputs[0]).symbolic.empty()) return std::nullopt;
  Tensor seen = s.graph().Phantom(maker->outputs[0]);
  for (size_t i = views.size(); i-- > 0;) {
    const Call call{views[i]->op, std::span<const Tensor>(&seen, 1), views[i]->attrs, views[i]->list_sizes};
    ViewOf view(call);
    views[i]->op->view(view);
    seen = seen.Alias(view.shape, view.strides, view.offset);
  }
  return Seen{maker->inputs[0], seen.shape(), seen.strides(), seen.offset()};
}

/// How the source's axes are split into digits: each is an axis of the view, or stays at one place.
struct Split {
  Dims shape;                  ///< of the source, its axes split
  std::vector<int> axes;       ///< for each digit an axis of the view, or -1
  std::vector<int64_t> fixed;  ///< for each digit the place it stays at
};

/// An axis of the source must be seen whole, as one or several axes, or at one place.
std::optional<Split> SplitAxes(const Dims& source, const Seen& seen) {
  Split split;
  std::vector<char> used(seen.shape.size(), 0);
  const Dims units = ContiguousStrides(source);
  int64_t rest = seen.offset;
  for (int axis = 0; axis < source.size(); ++axis) {
    const int64_t place = rest / units[axis];
    rest %= units[axis];
    std::vector<int> digits;  // fastest first
    int64_t reached = 1;
    for (bool found = true; found && reached < source[axis];) {
      found = false;
      for (int k = 0; k < seen.shape.size() && !found; ++k) {
        if (used[k] || seen.shape[k] == 1 || seen.strides[k] != units[axis] * reached) continue;
        if (source[axis] % (reached * seen.shape[k]) != 0) continue;
        used[k] = found = true;
        digits.push_back(k);
        reached *= seen.shape[k];
      }
    }
    if (digits.empty()) {
      split.shape.push_back(source[axis]), split.axes.push_back(-1), split.fixed.push_back(place);
      continue;
    }
    if (reached != source[axis] || place != 0) return std::nullopt;
    for (size_t i = digits.size(); i-- > 0;) {
      split.shape.push_back(seen.shape[digits[i]]), split.axes.push_back(digits[i]), split.fixed.push_back(0);
    }
  }
  for (int k = 0; k < seen.shape.size(); ++k) {
    if (!used[k] && seen.shape[k] != 1) return std::nullopt;
  }
  return split;
}

/// The same view, of the source: split, places taken, axes in order, and the axes of size 1.
ValueId Rebuild(Simplifier& s, const Seen& seen, const Split& split) {
  ValueId id = s.Insert("view", {seen.source}, {Value(split.shape)});
  std::vector<int> axes = split.axes;
  for (size_t i = axes.size(); i-- > 0 && id != kNoValue;) {
    if (axes[i] >= 0) continue;
    id = s.Insert("select", {id}, {Value(static_cast<int64_t>(i)), Value(split.fixed[i])});
    axes.erase(axes.begin() + i);
  }
  Dims order;
  for (int k = 0; k < seen.shape.size(); ++k) {
    const auto found = std::find(axes.begin(), axes.end(), k);
    if (found != axes.end()) order.push_back(found - axes.begin());
  }
  if (id != kNoValue) id = s.Insert("permute", {id}, {Value(order)});
  for (int k = 0; k < seen.shape.size() && id != kNoValue; ++k) {
    if (seen.shape[k] == 1) id = s.Insert("unsqueeze", {id}, {Value(int64_t{k})});
  }
  return id;
}

bool ReadInPlace(Simplifier& s, GraphCall* call) {
  std::vector<ValueId> inputs = call->inputs;
  std::unordered_map<ValueId, ValueId> known;
  for (ValueId& id : inputs) {
    if (id == kNoValue) continue;
    if (const auto found = known.find(id); found != known.end()) {
      id = found->second;
      continue;
    }
    const std::optional<Seen> seen = CopyUnder(s, id);
    const std::optional<Split> split = seen ? SplitAxes(s.info(seen->source).shape, *seen) : std::nullopt;
    const ValueId rebuilt = split ? Rebuild(s, *seen, *split) : kNoValue;
    if (rebuilt == kNoValue || s.info(rebuilt).shape != s.info(id).shape) continue;
    known.emplace(id, rebuilt);
    id = rebuilt;
  }
  if (known.empty()) return false;
  call->inputs = std::move(inputs);
  return true;
}

void SeeThroughCopies(Graph& graph) {
  static const SimplifyRules rules = {{"attention", ReadInPlace}, {"attention_backward", ReadInPlace}};
  Simplifier(graph).Run({&rules});
}

DRAGON_PASS(SeeThroughCopies, 3, 245,
            "Let attention read its operands where they lie, not from copies in row-major order.");

}  // namespace
}  // namespace dragon
