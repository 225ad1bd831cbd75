// Pointwise calls that feed each other, and reductions of what they make, become one `fused` call, whose intermediate
// values never go to memory.
#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_map>

#include "core/framework/fusion.h"
#include "core/framework/graph_body.h"
#include "core/passes/pass.h"

namespace dragon {
namespace {

/// Limits of one fused call: tiles of all its operands share the nearest caches.
constexpr size_t kMostCalls = 64, kMostOperands = 24;
constexpr int kMostBetween = 48;  // calls between two that become one since they read the same

/// Calls gathered into groups; a call that cannot be fused is a group of its own.
class Fusing {
 public:
  explicit Fusing(Graph& graph)
      : graph_(graph), fused_op_(GetOp("fused")), producers_(graph.Producers()), consumers_(graph.Consumers()) {
    const int count = static_cast<int>(graph.calls.size());
    group_.resize(count), members_.resize(count), before_.resize(count, -1), seen_.resize(count, 0);
    fusable_.resize(count);
    int random = -1;
    for (int i = 0; i < count; ++i) {
      group_[i] = i;
      members_[i] = {i};
      forms_.push_back(FormOf(graph.calls[i]));
      fusable_[i] = forms_[i].kind != FoldForm::Kind::kNone || IsFusable(graph.calls[i]);
      axes_.push_back(forms_[i].axes > 0 ? forms_[i].axes : -1);
      FindSpace(i);
      if (graph.calls[i].is_ordered()) before_[i] = std::exchange(random, i);
    }
    for (ValueId id : graph.outputs) asked_.insert(id);
    for (const auto& [input, id] : graph.updates) asked_.insert(id);
  }

  void Run() {
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      if (fusable_[i]) Gather(static_cast<int>(i));
    }
    std::vector<GraphCall> calls;
    const std::vector<int> order = Order();
    const auto groups =
        std::count_if(members_.begin(), members_.end(), [](const auto& calls) { return !calls.empty(); });
    if (static_cast<int64_t>(order.size()) != groups) {
      throw RuntimeError("fuse_pointwise").Got("groups that need each other").Expected("an order to run them in");
    }
    for (int group : order) {
      std::vector<GraphCall> made = members_[group].size() > 1 ? Fuse(group) : std::vector<GraphCall>();
      if (made.empty()) {
        for (int i : members_[group]) made.push_back(graph_.calls[i]);
      }
      std::move(made.begin(), made.end(), std::back_inserter(calls));
    }
    graph_.calls = std::move(calls);
    std::erase_if(graph_.constants, [&](const auto& constant) { return !IsRead(constant.first); });
  }

 private:
  static bool RunsOn(Device device) { return Fusion().runs_on && Fusion().runs_on(device); }

  bool IsFusable(const GraphCall& call) const {
    if (!call.op->pointwise || call.op == &fused_op_ || !call.symbolic.empty() || call.outputs.size() != 1)
      return false;
    if (call.outputs[0] == kNoValue || !RunsOn(graph_.values[call.outputs[0]].device)) return false;
    return Fusion().is_loop && Fusion().is_loop(graph_, call);
  }

  FoldForm FormOf(const GraphCall& call) const {
    const bool plain = !call.op->pointwise && call.symbolic.empty() && call.outputs.size() == 1 &&
                       call.inputs.size() == 1 && call.outputs[0] != kNoValue;
    if (!plain || !RunsOn(graph_.values[call.outputs[0]].device) || !Fusion().fold) return {};
    return Fusion().fold(graph_, call);
  }

  /// What a call walks over is what it makes or, if it reduces, what it reads. A call on one number per row, as a
  /// reduction within the program makes them, walks with that.
  void FindSpace(int i) {
    const GraphCall& call = graph_.calls[i];
    space_.push_back(kNoValue);
    by_row_.push_back(0);
    if (!fusable_[i]) return;
    space_[i] = call.op->pointwise ? call.outputs[0] : call.inputs[0];
    for (ValueId id : call.inputs) {
      const int maker = id == kNoValue ? -1 : producers_[id];
      if (maker < 0 || !call.op->pointwise || graph_.values[id].shape != graph_.values[call.outputs[0]].shape) continue;
      if (!by_row_[maker] && (forms_[maker].kind != FoldForm::Kind::kRows || !KeepsAxes(maker))) continue;
      by_row_[i] = 1;
      space_[i] = space_[maker];
    }
  }
  bool KeepsAxes(int i) const {
    const GraphCall& call = graph_.calls[i];
    return graph_.values[call.inputs[0]].shape.size() == graph_.values[call.outputs[0]].shape.size();
  }
  /// A reduction that is complete only when the program ends, or lines up with other axes then.
  bool IsLast(int i) const {
    const FoldForm::Kind kind = forms_[i].kind;
    return kind != FoldForm::Kind::kNone && (kind != FoldForm::Kind::kRows || !KeepsAxes(i));
  }

  const ValueInfo& Space(int i) const { return graph_.values[space_[i]]; }
  bool SameShape(int a, int b) const {
    return Space(a).shape == Space(b).shape && Space(a).symbolic == Space(b).symbolic &&
           Space(a).device == Space(b).device;
  }

  /// Let a call join the groups that make its inputs, and those that read them too; not from far away, since its result
  /// would wait for its readers from there on.
  void Gather(int i) {
    for (ValueId id : graph_.calls[i].inputs) {
      if (id == kNoValue) continue;
      if (producers_[id] >= 0) Merge(i, producers_[id]);
      if (graph_.values[id].shape != Space(i).shape) continue;
      for (int reader : consumers_[id]) {
        if (reader < i && i - reader <= kMostBetween) Merge(i, reader);
      }
    }
  }

  void Merge(int a, int b) {
    const int from = group_[a], to = group_[b];
    if (from == to || !fusable_[b] || !SameShape(a, b)) return;
    if (members_[from].size() + members_[to].size() > kMostCalls) return;
    if (axes_[from] >= 0 && axes_[to] >= 0 && axes_[from] != axes_[to]) return;
    if (!Space(a).device.is_cpu() && GoesBothWays(from, to)) return;
    if (ReadsTooEarly(from, to) || Operands(from, to) > kMostOperands || Circles(from, to) || Circles(to, from)) return;
    axes_[to] = std::max(axes_[to], axes_[from]);
    for (int member : members_[from]) group_[member] = to;
    std::vector<int> both;
    std::merge(members_[to].begin(), members_[to].end(), members_[from].begin(), members_[from].end(),
               std::back_inserter(both));
    members_[to] = std::move(both);
    members_[from].clear();
    gathered_.insert(to);
    gathered_.erase(from);
  }

  /// Whether rows are reduced and columns folded: a block of threads has the one or the other.
  bool GoesBothWays(int a, int b) const {
    bool rows = false, columns = false;
    for (int group : {a, b}) {
      for (int i : members_[group]) {
        rows |= forms_[i].kind == FoldForm::Kind::kRows;
        columns |= forms_[i].kind == FoldForm::Kind::kColumns;
      }
    }
    return rows && columns;
  }

  bool IsInside(int call, int a, int b) const { return call >= 0 && (group_[call] == a || group_[call] == b); }

  /// Whether within the two groups someone reads a result that is there only when the program ends.
  bool ReadsTooEarly(int a, int b) const {
    for (int group : {a, b}) {
      for (int i : members_[group]) {
        if (!IsLast(i)) continue;
        for (int reader : consumers_[graph_.calls[i].outputs[0]]) {
          if (IsInside(reader, a, b)) return true;
        }
      }
    }
    return false;
  }

  /// How many tensors the two groups together would read and write.
  size_t Operands(int a, int b) const {
    std::set<ValueId> read, written;
    for (int group : {a, b}) {
      for (int i : members_[group]) {
        for (ValueId id : graph_.calls[i].inputs) {
          if (id != kNoValue && !IsInside(producers_[id], a, b)) read.insert(id);
        }
        if (IsAsked(graph_.calls[i].outputs[0], a, b)) written.insert(graph_.calls[i].outputs[0]);
      }
    }
    return read.size() + written.size();
  }
  bool IsAsked(ValueId id, int a, int b) const {
    if (asked_.count(id)) return true;
    return std::any_of(consumers_[id].begin(), consumers_[id].end(), [&](int i) { return !IsInside(i, a, b); });
  }

  template <typename F>
  void ForSources(int group, F&& body) const {
    for (int i : members_[group]) {
      for (ValueId id : graph_.calls[i].inputs) {
        if (id != kNoValue && producers_[id] >= 0) body(group_[producers_[id]]);
      }
      if (before_[i] >= 0) body(group_[before_[i]]);
    }
  }

  /// Whether `group` needs `other` by way of some third group, so that the two cannot be one call.
  bool Circles(int group, int other) {
    ++mark_;
    std::vector<int> waiting;
    // What ends before `other` begins cannot need it, unless by way of a group that lasts from before to after that.
    const int begin = members_[other].front();
    const bool bridged = std::any_of(gathered_.begin(), gathered_.end(), [&](int between) {
      return !members_[between].empty() && members_[between].front() < begin && members_[between].back() >= begin;
    });
    const auto visit = [&](int source) {
      if (seen_[source] == mark_ || (!bridged && members_[source].back() < begin)) return;
      seen_[source] = mark_;
      waiting.push_back(source);
    };
    ForSources(group, [&](int source) {
      if (source != group && source != other) visit(source);
    });
    while (!waiting.empty()) {
      const int next = waiting.back();
      waiting.pop_back();
      if (next == other) return true;
      ForSources(next, visit);
    }
    return false;
  }

  /// The groups in an order in which they may run, as near to the present one as can be.
  std::vector<int> Order() const {
    std::vector<int> missing(graph_.calls.size(), 0), order;
    std::vector<std::set<int>> readers(graph_.calls.size());
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;  // by last member
    for (size_t group = 0; group < members_.size(); ++group) {
      std::set<int> sources;
      ForSources(static_cast<int>(group), [&](int source) { sources.insert(source); });
      sources.erase(static_cast<int>(group));
      for (int source : sources) readers[source].insert(static_cast<int>(group));
      missing[group] = static_cast<int>(sources.size());
      if (sources.empty() && !members_[group].empty()) ready.push(members_[group].back());
    }
    while (!ready.empty()) {
      const int group = group_[ready.top()];
      ready.pop();
      order.push_back(group);
      for (int reader : readers[group]) {
        if (--missing[reader] == 0) ready.push(members_[reader].back());
      }
    }
    return order;
  }

  /// The one call of a group; none if the tile program cannot be made after all.
  std::vector<GraphCall> Fuse(int group) {
    Graph body;
    body.name = "body";
    body.symbols = graph_.symbols;
    std::unordered_map<ValueId, ValueId> inside;
    GraphCall fused;
    fused.op = &fused_op_;
    for (int i : members_[group]) {
      GraphCall call = graph_.calls[i];
      for (ValueId& id : call.inputs) {
        if (id != kNoValue) id = Inside(id, body, inside, fused.inputs);
      }
      const ValueId made = call.outputs[0];
      call.outputs[0] = inside[made] = body.AddValue(graph_.values[made]);
      body.calls.push_back(std::move(call));
      if (!IsAsked(made, group, group)) continue;
      body.outputs.push_back(inside[made]);
      fused.outputs.push_back(made);
    }
    if (body.outputs.empty() || !Fusion().is_program(body)) return {};
    fused.scope = graph_.calls[members_[group].front()].scope;
    fused.list_sizes = {static_cast<int32_t>(fused.inputs.size())};
    fused.attrs = {Value(Ref<Object>(MakeRef<GraphBody>(std::move(body))))};
    return {std::move(fused)};
  }

  /// A value of the graph as one of the body: lone numbers are constants there, other tensors inputs.
  ValueId Inside(ValueId id, Graph& body, std::unordered_map<ValueId, ValueId>& inside, std::vector<ValueId>& inputs) {
    const auto found = inside.find(id);
    if (found != inside.end()) return found->second;
    const auto constant = graph_.constants.find(id);
    ValueId made;
    if (constant != graph_.constants.end() && constant->second.numel() == 1) {
      made = body.AddConstant(constant->second, graph_.values[id].name);
    } else {
      made = body.AddInput(graph_.values[id]);
      inputs.push_back(id);
    }
    return inside[id] = made;
  }

  bool IsRead(ValueId id) const {
    if (asked_.count(id)) return true;
    for (const GraphCall& call : graph_.calls) {
      if (std::find(call.inputs.begin(), call.inputs.end(), id) != call.inputs.end()) return true;
    }
    return false;
  }

  Graph& graph_;
  const Operator& fused_op_;
  const std::vector<int> producers_;
  const std::vector<std::vector<int>> consumers_;
  std::vector<int> group_;                 ///< of each call
  std::vector<std::vector<int>> members_;  ///< of each group, in order
  std::vector<int> before_;                ///< the random call that must have drawn before this one; -1
  std::vector<char> fusable_;
  std::vector<FoldForm> forms_;  ///< how each call reduces
  std::vector<ValueId> space_;   ///< a value of the shape that each call walks over
  std::vector<char> by_row_;     ///< whether it makes one number per row
  std::vector<int> axes_;        ///< of each group: how many axes make a row; -1: no matter
  std::set<int> gathered_;       ///< groups of several calls
  std::set<ValueId> asked_;      ///< what the graph gives to the outside
  std::vector<int> seen_;
  int mark_ = 0;
};

void FusePointwise(Graph& graph) { Fusing(graph).Run(); }

DRAGON_PASS(FusePointwise, 3, 500, "Run pointwise calls that feed each other in one pass over memory.");

}  // namespace
}  // namespace dragon
