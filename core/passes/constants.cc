// Compute beforehand what depends on constants only.
#include <algorithm>
#include <unordered_map>

#include "core/framework/apply.h"
#include "core/framework/known_call.h"
#include "core/passes/pass.h"
#include "core/passes/rewrite.h"

namespace dragon {
namespace {

constexpr int64_t kLargestResult = 16 << 20;   ///< bytes; results smaller than what they are made of may be larger
constexpr int64_t kLargestCreation = 1 << 20;  ///< bytes of what is made from nothing: filling them is cheap

class Folding {
 public:
  explicit Folding(Graph& graph) : graph_(graph), rewrite_(graph) {}

  void Run() {
    for (size_t i = 0; i < graph_.calls.size(); ++i) Visit(i);
    rewrite_.Finish();
  }

 private:
  const Tensor* Known(ValueId id) const {
    if (const auto found = graph_.constants.find(id); found != graph_.constants.end()) return &found->second;
    const auto found = views_.find(id);
    return found == views_.end() ? nullptr : &found->second;
  }

  void Visit(size_t position) {
    const GraphCall& call = graph_.calls[position];
    if (!IsFixed(call)) return;
    InlineVector<Tensor, 4> inputs;
    int64_t bytes = 0;
    for (ValueId id : call.inputs) {
      const Tensor* known = id == kNoValue ? nullptr : Known(id);
      if (id != kNoValue && !known) return;
      inputs.push_back(known ? *known : Tensor());
      if (known) bytes += graph_.Bytes(id);  // an expanded one is no larger than what it repeats
    }
    if (!call.op->view && !IsWorthIt(call, bytes)) return;
    Tensors results;
    try {
      results = Apply({call.op, inputs, call.attrs, call.list_sizes});
    } catch (const Error&) {
      return;  // whatever is wrong is told when the graph runs
    }
    if (!Fit(call, results)) return;
    for (size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.outputs[k] != kNoValue)
        (call.op->view ? views_[call.outputs[k]] : Constant(call.outputs[k])) = results[k];
    }
    // A view costs nothing when the graph runs, but would be stored as if it were numbers of its own.
    if (!call.op->view) rewrite_.Drop(position);
  }

  Tensor& Constant(ValueId id) { return graph_.constants[id]; }

  /// Gives the same numbers whenever it runs, and nobody may write into them.
  bool IsFixed(const GraphCall& call) const {
    if (call.is_ordered() || call.op->schema.mutates() || call.op->dynamic || !call.symbolic.empty()) return false;
    if (!MakesNumbers(*call.op)) return false;
    if (call.has_body() && !call.op->pointwise) return false;  // a loop may take for ever
    return std::all_of(call.outputs.begin(), call.outputs.end(), [&](ValueId id) {
      return id == kNoValue || (graph_.values[id].symbolic.empty() && !rewrite_.Escapes(id));
    });
  }

  bool IsWorthIt(const GraphCall& call, int64_t input_bytes) const {
    int64_t bytes = 0;
    for (ValueId id : call.outputs) {
      if (id == kNoValue) continue;
      int64_t numel = 1;
      for (int64_t size : graph_.values[id].shape) numel *= size;
      bytes += numel * ItemSize(graph_.values[id].dtype);
    }
    return bytes <= std::max(input_bytes, call.inputs.empty() ? kLargestCreation : kLargestResult);
  }

  bool Fit(const GraphCall& call, const Tensors& results) const {
    if (results.size() != call.outputs.size()) return false;
    for (size_t k = 0; k < results.size(); ++k) {
      if (call.outputs[k] == kNoValue) continue;
      const ValueInfo& info = graph_.values[call.outputs[k]];
      const Tensor& made = results[k];
      const Dims& strides = info.strides.empty() ? ContiguousStrides(info.shape) : info.strides;
      const bool laid_out = made.is_contiguous() ? info.strides.empty() : made.strides() == strides;
      if (made.shape() != info.shape || made.dtype() != info.dtype || made.device() != info.device || !laid_out) {
        return false;
      }
    }
    return true;
  }

  Graph& graph_;
  Rewrite rewrite_;
  std::unordered_map<ValueId, Tensor> views_;  ///< of constants
};

void Constants(Graph& graph) { Folding(graph).Run(); }

DRAGON_PASS(Constants, 1, 110, "Compute beforehand what depends on constants only.");

}  // namespace
}  // namespace dragon
