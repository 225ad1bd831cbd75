// softmax(scale q k^T + mask) v together with its gradient: what the softmax made is read by both, so neither can be
// exchanged alone. Found from softmax's gradient; the scores' gradient must go the way back that the scores came.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/framework/op.h"
#include "core/passes/attention_training.h"
#include "core/passes/pass.h"
#include "core/passes/scores.h"

namespace dragon {
namespace {

/// Positions of the calls of one attention and its gradient, and the values that they hold.
struct Found {
  Scores scores;
  ValueId v = kNoValue, dy = kNoValue;
  int product = -1;  ///< weights times v
  int dv = -1, dscores = -1, dq = -1, dkeys = -1;
  bool escapes = false;  ///< somebody outside may write into the product
};

class AttentionSearch {
 public:
  explicit AttentionSearch(Graph& graph)
      : graph_(graph), s_(graph), makers_(graph.Producers()), readers_(graph.Consumers()) {
    asked_.resize(graph.values.size(), 0);
    for (ValueId id : graph.outputs) asked_[id] = 1;
    for (const auto& [input, id] : graph.updates) asked_[id] = 1;
  }

  std::vector<Found> Run() {
    std::vector<Found> all;
    for (const GraphCall& call : graph_.calls) {
      Found found;
      if (call.op->name() == "softmax_backward" && Match(call, &found)) all.push_back(found);
    }
    return all;
  }

 private:
  const GraphCall& Call(int position) const { return graph_.calls[position]; }
  const Dims& Shape(ValueId id) const { return graph_.values[id].shape; }

  /// A value without the exchanges of its last two axes, and whether those come to one.
  struct Stripped {
    ValueId id;
    bool turned;
    friend bool operator==(const Stripped&, const Stripped&) = default;
  };
  Stripped Strip(ValueId id) const {
    bool turned = false;
    for (const GraphCall* call = s_.Maker(id); call && IsTurn(*call); call = s_.Maker(id)) {
      id = call->inputs[0];
      turned = !turned;
    }
    return {id, turned};
  }
  /// Whether a call does nothing but exchange the last two axes.
  bool IsTurn(const GraphCall& call) const {
    const bool permutes = call.op->name() == "permute";
    if ((!permutes && call.op->name() != "transpose") || !call.symbolic.empty()) return false;
    const int64_t ndim = Shape(call.inputs[0]).size();
    if (!permutes) {
      const int64_t a = (call.attrs[0].integer() + ndim) % ndim, b = (call.attrs[1].integer() + ndim) % ndim;
      return a + b == 2 * ndim - 3 && a != b;
    }
    const Dims axes = call.attrs[0].ints();
    for (int i = 0; i < ndim; ++i) {
      const int64_t wanted = i < ndim - 2 ? i : 2 * ndim - 3 - i;
      if ((axes[i] + ndim) % ndim != wanted) return false;
    }
    return ndim >= 2;
  }
  bool IsTurnOf(ValueId id, ValueId other) const {
    Stripped turned = Strip(other);
    turned.turned = !turned.turned;
    return Strip(id) == turned;
  }

  /// The calls that read a value, through exchanges of its last axes: position, and which operand it is.
  struct Reader {
    int position;
    int operand;
    bool turned;
  };
  /// False if something outside of the graph reads it as well.
  bool ReadersOf(ValueId id, bool turned, std::vector<Reader>* readers) const {
    if (asked_[id]) return false;
    int last = -1;
    for (int position : readers_[id]) {
      if (position == last) continue;
      last = position;
      const GraphCall& call = Call(position);
      if (IsTurn(call)) {
        if (!ReadersOf(call.outputs[0], !turned, readers)) return false;
        continue;
      }
      for (size_t k = 0; k < call.inputs.size(); ++k) {
        if (call.inputs[k] == id) readers->push_back({position, static_cast<int>(k), turned});
      }
    }
    return true;
  }
  /// The one call that reads a value, as it is, and which makes one; nullptr if there are others.
  const GraphCall* OnlyReader(ValueId id) const {
    std::vector<Reader> readers;
    if (!ReadersOf(id, false, &readers) || readers.size() != 1 || readers[0].turned) return nullptr;
    const GraphCall& call = Call(readers[0].position);
    return call.outputs.size() == 1 && call.outputs[0] != kNoValue ? &call : nullptr;
  }

  bool Match(const GraphCall& backward, Found* found) const {
    const ValueId weights = backward.inputs[1];
    const GraphCall* softmax = s_.Maker(weights, "softmax");
    if (!softmax || !softmax->symbolic.empty() || !MatchProducts(backward, weights, found)) return false;
    const ValueInfo& info = graph_.values[weights];
    const int64_t ndim = info.shape.size(), axis = softmax->attr("axis").integer(),
                  back = backward.attr("axis").integer();
    if ((ndim != 3 && ndim != 4) || (axis != -1 && axis != ndim - 1) || (back != -1 && back != ndim - 1)) return false;
    if (!ReadScores(s_, softmax->inputs[0], &found->scores)) return false;
    if (found->scores.causal && info.shape[ndim - 1] != info.shape[ndim - 2]) return false;
    found->escapes = Escapes(Call(found->product).outputs[0]);
    return FitsAll(*found, info) && MatchScores(backward.outputs[0], found);
  }

  /// The graph gives out a value or what looks at its memory.
  bool Escapes(ValueId id) const {
    return asked_[id] || std::any_of(readers_[id].begin(), readers_[id].end(), [&](int reader) {
             const GraphCall& call = Call(reader);
             return call.op->view && call.outputs[0] != kNoValue && Escapes(call.outputs[0]);
           });
  }

  /// Who reads the weights: their product with v, its gradient in v, and softmax's own gradient, which comes of the
  /// product's gradient in the weights.
  bool MatchProducts(const GraphCall& backward, ValueId weights, Found* found) const {
    std::vector<Reader> readers;
    if (!ReadersOf(weights, false, &readers) || readers.size() != 3) return false;
    for (const Reader& reader : readers) {
      const bool product = Call(reader.position).op->name() == "matmul" && reader.operand == 0;
      if (product) (reader.turned ? found->dv : found->product) = reader.position;
    }
    if (found->product < 0 || found->dv < 0) return false;
    found->v = Call(found->product).inputs[1];
    found->dy = Call(found->dv).inputs[1];
    const GraphCall* dweights = s_.Only(backward.inputs[0], "matmul");
    if (!dweights || dweights->inputs[0] != found->dy || !IsTurnOf(dweights->inputs[1], found->v)) return false;
    found->dscores = makers_[backward.inputs[0]];
    return true;
  }

  /// Follow the scores' gradient: past the mask, through the scale, to the products with keys and queries.
  bool MatchScores(ValueId slope, Found* found) const {
    const Scores& scores = found->scores;
    double scale = 1;
    for (const GraphCall* reader = OnlyReader(slope); reader; reader = OnlyReader(slope)) {
      const std::string& name = reader->op->name();
      const double number = reader->inputs.size() > 1 ? s_.RealOf(reader->inputs[1]) : 0;
      if (name == "masked_fill" && reader->inputs[0] == slope && s_.RealOf(reader->inputs[2]) == 0) {
        if (!Hides(reader->inputs[1], scores, true)) return false;
      } else if (name == "where" && reader->inputs[1] == slope && s_.RealOf(reader->inputs[2]) == 0) {
        if (!Hides(reader->inputs[0], scores, false)) return false;
      } else if (name == "mul" && reader->inputs[0] == slope && number == number) {
        scale *= number;
      } else if (name == "div" && reader->inputs[0] == slope && number == number) {
        scale /= number;
      } else {
        return false;
      }
      slope = reader->outputs[0];
    }
    std::vector<Reader> readers;
    if (!ReadersOf(slope, false, &readers) || readers.size() != 2) return false;
    for (const Reader& reader : readers) {
      if (Call(reader.position).op->name() != "matmul" || reader.turned) return false;
      (reader.operand == 0 ? found->dq : found->dkeys) = reader.position;
    }
    if (found->dq < 0 || found->dkeys < 0 || std::abs(scale - scores.scale) > 1e-6 * std::abs(scale)) return false;
    return IsTurnOf(Call(found->dq).inputs[1], scores.keys) && IsTurnOf(Call(found->dkeys).inputs[0], scores.q);
  }

  /// Gradients of hidden scores are 0 already, so that only what hides them must be the same.
  bool Hides(ValueId mask, const Scores& scores, bool hides) const {
    return scores.causal ||
           (mask == scores.mask && hides == scores.mask_hides && graph_.values[mask].dtype == DType::kBool);
  }

  /// One batch and one number of heads for all, no symbols, and a mask that the operator takes.
  bool FitsAll(const Found& found, const ValueInfo& weights) const {
    const int ndim = weights.shape.size();
    for (ValueId id : {found.scores.q, found.scores.keys, found.v, found.dy}) {
      const ValueInfo& info = graph_.values[id];
      if (info.shape.size() != ndim || info.dtype != weights.dtype || !info.symbolic.empty()) return false;
      for (int axis = 0; axis < ndim - 2; ++axis) {
        if (info.shape[axis] != weights.shape[axis]) return false;
      }
    }
    if (found.scores.mask == kNoValue) return true;
    const ValueInfo& mask = graph_.values[found.scores.mask];
    return mask.symbolic.empty() && (mask.dtype == DType::kBool || mask.dtype == weights.dtype);
  }

  const Graph& graph_;
  const Simplifier s_;
  const std::vector<int> makers_;
  const std::vector<std::vector<int>> readers_;
  std::vector<char> asked_;
};

/// Writes the operators in the places of what was found.
class Exchanging {
 public:
  explicit Exchanging(Graph& graph) : graph_(graph), count_(graph.calls.size()) {}

  /// False if the operator does not take such operands.
  bool Exchange(const Found& found) try {
    const ValueId made = graph_.calls[found.product].outputs[0];
    std::vector<GraphCall> forward;
    now_ = &forward;
    ValueId mask = found.scores.mask;
    if (found.scores.mask_hides) mask = Add("logical_not", {mask}, {})[0];
    if (mask != kNoValue) mask = Spread(mask, found);
    const ValueId keys = Add("transpose", {found.scores.keys}, {Value(int64_t{-2}), Value(int64_t{-1})})[0];
    const ValueId q = Wide(found.scores.q), k = Wide(keys), v = Wide(found.v);
    const std::vector<Value> attrs = {Value(found.scores.scale), Value(found.scores.causal), Value(true)};
    const std::vector<ValueId> whole = Add("attention", {q, k, v, mask}, attrs);
    ValueId y = Narrow(whole[0], made);
    // The formula's gradient does not read the result: a program may write into it.
    if (found.escapes && y == made) y = Add("clone", {y}, {})[0];
    std::vector<GraphCall> backward;
    now_ = &backward;
    const std::vector<ValueId> grads =
        Add("attention_backward", {Wide(found.dy), y, whole[1], whole[2], q, k, v, mask}, attrs);
    Narrow(grads[0], graph_.calls[found.dq].outputs[0]);
    Narrow(grads[2], graph_.calls[found.dv].outputs[0]);
    const ValueId turned = Add("transpose", {grads[1]}, {Value(int64_t{-2}), Value(int64_t{-1})})[0];
    Narrow(Add("to_row_major", {turned}, {})[0], graph_.calls[found.dkeys].outputs[0]);
    before_[found.product] = std::move(forward);
    before_[std::min(found.dv, found.dscores)] = std::move(backward);
    for (int gone : {found.product, found.dq, found.dv, found.dkeys}) graph_.calls[gone].outputs[0] = kNoValue;
    return true;
  } catch (const Error&) {
    return false;
  }

  /// Put the new calls where they belong, without those whose results nobody reads any more.
  void Finish(int* forward_calls) {
    std::vector<GraphCall> calls;
    std::vector<char> is_forward;
    for (size_t t = 0; t < count_; ++t) {
      const bool forward = static_cast<int>(t) < *forward_calls;
      for (GraphCall& call : before_[static_cast<int>(t)])
        calls.push_back(std::move(call)), is_forward.push_back(forward);
      calls.push_back(std::move(graph_.calls[t])), is_forward.push_back(forward);
    }
    std::vector<char> read(graph_.values.size(), 0);
    for (ValueId id : graph_.outputs) read[id] = 1;
    for (const auto& [input, id] : graph_.updates) read[id] = 1;
    graph_.calls.clear();
    *forward_calls = 0;
    for (size_t t = calls.size(); t-- > 0;) {
      bool wanted = calls[t].is_ordered() || calls[t].op->schema.mutates();
      for (ValueId id : calls[t].outputs) wanted |= id != kNoValue && read[id];
      if (!wanted) continue;
      for (ValueId id : calls[t].inputs) {
        if (id != kNoValue) read[id] = 1;
      }
      *forward_calls += is_forward[t];
      graph_.calls.push_back(std::move(calls[t]));
    }
    std::reverse(graph_.calls.begin(), graph_.calls.end());
  }

 private:
  std::vector<ValueId> Add(const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs) {
    graph_.AddCall(GetOp(op), std::move(inputs), std::move(attrs));
    now_->push_back(std::move(graph_.calls.back()));
    graph_.calls.pop_back();
    return now_->back().outputs;
  }
  ValueId Wide(ValueId id) {
    return graph_.values[id].shape.size() == 4 ? id : Add("unsqueeze", {id}, {Value(int64_t{0})})[0];
  }
  /// What was just made is this value; with three axes, without the one in front. Returns the one with four.
  ValueId Narrow(ValueId made, ValueId as) {
    if (graph_.values[as].shape.size() != graph_.values[made].shape.size()) {
      Add("squeeze", {made}, {Value(Dims{0})});
      now_->back().outputs[0] = as;
      return made;
    }
    for (GraphCall& call : *now_) {
      for (ValueId& id : call.outputs) {
        if (id == made) id = as;
      }
    }
    return as;
  }
  /// The mask in the shape of the scores, which the operator asks for.
  ValueId Spread(ValueId mask, const Found& found) {
    Dims shape = graph_.values[found.scores.q].shape;
    shape[shape.size() - 1] = graph_.values[found.v].shape[shape.size() - 2];
    if (graph_.values[mask].shape != shape) mask = Add("expand", {mask}, {Value(shape)})[0];
    return Wide(mask);
  }

  Graph& graph_;
  const size_t count_;
  std::map<int, std::vector<GraphCall>> before_;
  std::vector<GraphCall>* now_ = nullptr;
};

void FindAttentionGradient(Graph& graph) {
  int all = static_cast<int>(graph.calls.size());
  FindAttentionAndGradient(graph, &all);
}

// Before views are merged, while both directions still exchange the axes of the same values.
DRAGON_PASS(FindAttentionGradient, 3, 105, "Find scaled dot product attention together with its gradient.");

}  // namespace

int FindAttentionAndGradient(Graph& graph, int* forward_calls) {
  const bool any = std::any_of(graph.calls.begin(), graph.calls.end(),
                               [](const GraphCall& call) { return call.op->name() == "softmax_backward"; });
  const std::vector<Found> all = any ? AttentionSearch(graph).Run() : std::vector<Found>();
  if (all.empty()) return 0;
  Exchanging exchanging(graph);
  int count = 0;
  for (const Found& found : all) count += exchanging.Exchange(found);
  if (count > 0) exchanging.Finish(forward_calls);
  return count;
}

}  // namespace dragon
