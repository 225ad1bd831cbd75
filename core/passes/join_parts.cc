// Gradients of the parts of a tensor (slices, selected places) each come as a whole tensor of zeros but for the part,
// and are added up. Where the parts make up the whole, they are written side by side instead. Only -0 becomes 0 no
// more.
#include <algorithm>

#include "core/passes/pass.h"
#include "core/passes/products.h"

namespace dragon {
namespace {

struct Part {
  ValueId value;
  int64_t start, length;
  bool is_place;  ///< of an axis that the value lacks
};

/// The calls whose results a sum adds up.
void CollectTerms(const Simplifier& s, ValueId id, std::vector<const GraphCall*>* terms) {
  const GraphCall* add = s.Only(id, "add");
  if (add && IsOne(add->attr("alpha"))) {
    CollectTerms(s, add->inputs[0], terms);
    CollectTerms(s, add->inputs[1], terms);
  } else {
    terms->push_back(s.Only(id, "restride"));
  }
}

/// Where in `whole` a restride puts its input, if that is a range or a place of one axis.
std::optional<Part> PartOf(const Simplifier& s, const GraphCall* term, const ValueInfo& whole, int axis) {
  if (!term || !term->symbolic.empty() || term->attr("to_offset").integer() != 0) return std::nullopt;
  const Dims &shape = s.info(term->inputs[0]).shape, &strides = term->attr("strides").ints();
  Dims expected = whole.shape, expected_strides = ContiguousStrides(whole.shape);
  if (term->attr("to_strides").ints() != expected_strides) return std::nullopt;
  const int64_t offset = term->attr("offset").integer(), step = expected_strides[axis];
  if (offset % step != 0 || offset / step >= whole.shape[axis]) return std::nullopt;
  Part part{term->inputs[0], offset / step, 1, shape.size() + 1 == whole.shape.size()};
  if (part.is_place) {
    expected.erase(axis);
    expected_strides.erase(axis);
  } else if (shape.size() == whole.shape.size()) {
    expected[axis] = part.length = shape[axis];
  }
  if (shape != expected || strides != expected_strides) return std::nullopt;
  return part;
}

bool JoinAlong(Simplifier& s, GraphCall* call, const std::vector<const GraphCall*>& terms, int axis) {
  const ValueInfo& whole = s.info(call->outputs[0]);
  std::vector<Part> parts;
  for (const GraphCall* term : terms) {
    const std::optional<Part> part = PartOf(s, term, whole, axis);
    if (!part) return false;
    parts.push_back(*part);
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.start < b.start; });
  int64_t reached = 0;
  for (const Part& part : parts) {
    if (part.start != reached) return false;
    reached += part.length;
  }
  if (reached != whole.shape[axis]) return false;
  std::vector<ValueId> values;
  for (const Part& part : parts) {
    values.push_back(part.is_place ? s.Insert("unsqueeze", {part.value}, {Value(int64_t{axis})}) : part.value);
    if (values.back() == kNoValue) return false;
  }
  const int32_t count = static_cast<int32_t>(values.size());
  return s.Exchange(call, "cat", std::move(values), {Value(int64_t{axis})}, {}, {count});
}

bool Join(Simplifier& s, GraphCall* call) {
  const ValueInfo whole = s.info(call->outputs[0]);
  if (!IsOne(call->attr("alpha")) || !whole.strides.empty() || !whole.symbolic.empty()) return false;
  std::vector<const GraphCall*> terms;
  CollectTerms(s, call->inputs[0], &terms);
  CollectTerms(s, call->inputs[1], &terms);
  if (std::find(terms.begin(), terms.end(), nullptr) != terms.end()) return false;
  for (int axis = 0; axis < whole.shape.size(); ++axis) {
    if (whole.shape[axis] > 1 && JoinAlong(s, call, terms, axis)) return true;
  }
  return false;
}

/// A whole that is copied into another order of axes: its parts are seen in that order and joined in one pass.
bool JoinInOrder(Simplifier& s, GraphCall* call) {
  const GraphCall* permute = s.Only(call->inputs[0], "permute");
  const GraphCall* cat = permute ? s.Only(permute->inputs[0], "cat") : nullptr;
  if (!cat || !cat->symbolic.empty() || !permute->symbolic.empty()) return false;
  const Dims order = permute->attr("axes").ints();
  const int ndim = order.size();
  const int64_t axis = (cat->attr("axis").integer() + ndim) % ndim;
  int64_t joined = 0;
  while ((order[joined] + ndim) % ndim != axis) ++joined;
  std::vector<ValueId> values;
  const std::vector<ValueId> parts = cat->inputs;
  for (ValueId id : parts) {
    values.push_back(s.Insert("permute", {id}, {Value(order)}));
    if (values.back() == kNoValue) return false;
  }
  const int32_t count = static_cast<int32_t>(values.size());
  return s.Exchange(call, "cat", std::move(values), {Value(joined)}, {}, {count});
}

void JoinParts(Graph& graph) {
  static const SimplifyRules rules = {{"add", Join}, {"to_row_major", JoinInOrder}};
  Simplifier(graph).Run({&rules});
}

DRAGON_PASS(JoinParts, 3, 240, "Write the gradients of a tensor's parts side by side instead of adding them up.");

}  // namespace
}  // namespace dragon
