// Who may stand for whom in a graph.
#include "core/passes/rewrite.h"

#include <bit>
#include <functional>

namespace dragon {

bool SameForm(const ValueInfo& a, const ValueInfo& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.device == b.device &&
         a.symbolic == b.symbolic;
}

namespace {

bool SameBits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

}  // namespace

bool SameAttribute(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Value::Kind::kDouble:
      return SameBits(a.real(), b.real());
    case Value::Kind::kComplex:
      return SameBits(a.complex().re, b.complex().re) && SameBits(a.complex().im, b.complex().im);
    case Value::Kind::kDoubles:
      return std::equal(a.doubles().begin(), a.doubles().end(), b.doubles().begin(), b.doubles().end(), SameBits);
    default:
      return a == b;
  }
}

size_t HashAttribute(const Value& value) {
  size_t hash = static_cast<size_t>(value.kind());
  switch (value.kind()) {
    case Value::Kind::kNone:
      return hash;
    case Value::Kind::kDouble:
    case Value::Kind::kComplex:
      return Mix(hash, std::bit_cast<uint64_t>(value.real()));
    case Value::Kind::kInts:
      for (int64_t number : value.ints()) hash = Mix(hash, static_cast<size_t>(number));
      return hash;
    case Value::Kind::kDoubles:
      for (double number : value.doubles()) hash = Mix(hash, std::bit_cast<uint64_t>(number));
      return hash;
    case Value::Kind::kString:
      return Mix(hash, std::hash<std::string>()(value.string()));
    case Value::Kind::kObject:
      return Mix(hash, reinterpret_cast<size_t>(value.object()));
    default:
      return Mix(hash, static_cast<size_t>(value.integer()));
  }
}

Rewrite::Rewrite(Graph& graph) : graph_(graph), dropped_(graph.calls.size(), 0) {
  Grow();
  for (const GraphCall& call : graph.calls) {
    // A composition may hand its first argument on, as reshape does.
    const bool looks_on = (call.op->view || call.op->compose) && !call.inputs.empty() && call.inputs[0] != kNoValue;
    for (ValueId id : call.outputs) {
      if (id == kNoValue) continue;
      made_[id] = 1;
      if (looks_on) root_[id] = root_[call.inputs[0]];
    }
  }
  const auto keep = [&](ValueId id) { direct_[id] = escapes_[root_[id]] = 1; };
  for (ValueId id : graph.outputs) keep(id);
  for (const auto& [input, id] : graph.updates) keep(id);
}

void Rewrite::Grow() {
  for (size_t id = now_.size(); id < graph_.values.size(); ++id) {
    now_.push_back(static_cast<ValueId>(id));
    root_.push_back(static_cast<ValueId>(id));
    made_.push_back(0);
    direct_.push_back(0);
    escapes_.push_back(0);
  }
}

ValueId Rewrite::Root(ValueId id) const {
  while (root_[id] != id) id = root_[id];
  return id;
}

void Rewrite::Rename(GraphCall* call) const {
  for (ValueId& id : call->inputs) id = Now(id);
}

/// May what looks at one root's memory look at another's instead?
bool Rewrite::MayShare(ValueId from, ValueId to) const {
  return from == to || !escapes_[from] || (made_[to] && !escapes_[to]);
}

void Rewrite::Share(ValueId from, ValueId to) {
  escapes_[to] |= escapes_[from];
  root_[from] = to;
}

bool Rewrite::MayStandFor(ValueId old, ValueId by) const {
  if (direct_[old] && (!made_[by] || direct_[by])) return false;
  return MayShare(Root(old), Root(by));
}

bool Rewrite::Substitute(ValueId old, ValueId by) {
  if (old == by || !SameForm(graph_.values[old], graph_.values[by]) || !MayStandFor(old, by)) return false;
  now_[old] = by;
  direct_[by] |= direct_[old];
  Share(Root(old), Root(by));
  std::string& name = graph_.values[by].name;
  if (name.empty()) name = graph_.values[old].name;
  return true;
}

bool Rewrite::LookAt(ValueId value, ValueId at) {
  if (!MayShare(Root(value), Root(at))) return false;
  Share(Root(value), Root(at));
  return true;
}

ValueId Rewrite::AddConstant(Tensor tensor) {
  const ValueId id = graph_.AddConstant(std::move(tensor));
  Grow();
  return id;
}

ValueId Rewrite::AddValue(ValueInfo info) {
  const ValueId id = graph_.AddValue(std::move(info));
  Grow();
  made_[id] = 1;
  return id;
}

void Rewrite::Finish(std::vector<std::pair<size_t, GraphCall>> inserted) {
  for (ValueId& id : graph_.outputs) id = Now(id);
  for (auto& [input, id] : graph_.updates) id = Now(id);
  std::vector<GraphCall> calls;
  calls.reserve(graph_.calls.size() + inserted.size());
  auto next = inserted.begin();
  for (size_t i = 0; i < graph_.calls.size(); ++i) {
    for (; next != inserted.end() && next->first == i; ++next) calls.push_back(std::move(next->second));
    if (!dropped_[i]) calls.push_back(std::move(graph_.calls[i]));
  }
  graph_.calls = std::move(calls);
}

}  // namespace dragon
