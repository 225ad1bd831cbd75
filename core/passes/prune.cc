// Drop what nobody needs: calls, constants, and results of calls for which there is cheaper work.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/passes/pass.h"

namespace dragon {
namespace {

/// Another operator for calls of which only one result is read; it takes those arguments that it has, by name.
struct Cheaper {
  int wanted;  ///< the result that is read
  const char* instead;
};
const std::unordered_multimap<std::string_view, Cheaper> kCheaper = {
    {"max_axis", {0, "amax"}},   {"max_axis", {1, "argmax"}},        {"min_axis", {0, "amin"}},
    {"min_axis", {1, "argmin"}}, {"real_var_mean", {0, "real_var"}}, {"max_pool_with_indices", {0, "max_pool"}},
};

/// Arguments of backward operators that say whether result 0, 1, 2 is wanted.
constexpr const char* kWith[] = {"with_x", "with_weight", "with_bias"};

class Pruning {
 public:
  explicit Pruning(Graph& graph) : graph_(graph), read_(graph.values.size(), 0) {}

  void Run() {
    DropIdleUpdates();
    for (ValueId id : graph_.outputs) read_[id] = 1;
    for (const auto& [input, id] : graph_.updates) read_[id] = 1;
    std::vector<char> kept(graph_.calls.size(), 0);
    for (size_t i = graph_.calls.size(); i-- > 0;) {
      GraphCall& call = graph_.calls[i];
      bool asked = false;
      for (ValueId& id : call.outputs) {
        if (id != kNoValue && !read_[id]) id = kNoValue;
        asked |= id != kNoValue;
      }
      kept[i] = asked || call.is_ordered();
      if (!kept[i]) continue;
      if (call.outputs.size() > 1) AskForLess(call);
      for (ValueId id : call.inputs) {
        if (id != kNoValue) read_[id] = 1;
      }
    }
    size_t next = 0;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (!kept[i]) continue;
      if (next != i) graph_.calls[next] = std::move(graph_.calls[i]);
      ++next;
    }
    graph_.calls.resize(next);
    std::erase_if(graph_.constants, [&](const auto& constant) { return !read_[constant.first]; });
  }

 private:
  /// An input that ends as it began.
  void DropIdleUpdates() {
    std::erase_if(graph_.updates, [&](const auto& update) { return graph_.inputs[update.first] == update.second; });
  }

  void AskForLess(GraphCall& call) {
    if (!call.symbolic.empty() || !call.Written().empty()) return;
    const Schema& schema = call.op->schema;
    for (size_t k = 0; k < std::size(kWith) && k < call.outputs.size(); ++k) {
      const int position = schema.Find(kWith[k]);
      if (position >= 0 && call.outputs[k] == kNoValue) call.attrs[schema.arguments()[position].slot] = Value(false);
    }
    const auto [begin, end] = kCheaper.equal_range(schema.name());
    for (auto found = begin; found != end; ++found) {
      const Cheaper& cheaper = found->second;
      const auto others = call.outputs.size() - std::count(call.outputs.begin(), call.outputs.end(), kNoValue);
      if (others == 1 && call.outputs[cheaper.wanted] != kNoValue) Exchange(call, cheaper);
    }
  }

  void Exchange(GraphCall& call, const Cheaper& cheaper) {
    const Operator* op = FindOp(cheaper.instead);
    if (!op || op->schema.tensor_count() != call.op->schema.tensor_count()) return;
    GraphCall exchanged = call;
    exchanged.op = op;
    exchanged.attrs.clear();
    for (int slot = 0; slot < op->schema.attr_count(); ++slot) {
      const Argument& argument = op->schema.attr(slot);
      const int position = call.op->schema.Find(argument.name);
      Value value = position < 0 ? argument.default_value : call.attrs[call.op->schema.arguments()[position].slot];
      if (argument.type == ArgumentType::kInts && value.kind() == Value::Kind::kInt)
        value = Value(Dims{value.integer()});
      exchanged.attrs.push_back(std::move(value));
    }
    exchanged.outputs = {call.outputs[cheaper.wanted]};
    call = std::move(exchanged);
  }

  Graph& graph_;
  std::vector<char> read_;
};

void Prune(Graph& graph) { Pruning(graph).Run(); }

DRAGON_PASS(Prune, 1, 100, "Drop calls, constants and results that nobody needs.");

}  // namespace
}  // namespace dragon
