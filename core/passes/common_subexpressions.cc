// Compute what is asked for twice once.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "core/passes/pass.h"
#include "core/passes/rewrite.h"

namespace dragon {
namespace {

bool IsNumberOne(const Value& value) {
  return value.is_number() && value.kind() != Value::Kind::kComplex && value.real() == 1;
}

class Merging {
 public:
  explicit Merging(Graph& graph) : graph_(graph), rewrite_(graph) {}

  void Run() {
    MergeConstants();
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      GraphCall& call = graph_.calls[i];
      rewrite_.Rename(&call);
      if (call.is_ordered() || call.op->schema.mutates() || call.op->dynamic) continue;
      std::vector<int>& alike = seen_[Hash(call)];
      const bool merged = std::any_of(alike.begin(), alike.end(), [&](int first) {
        return Equal(graph_.calls[first], call) && Merge(graph_.calls[first], call);
      });
      if (merged) {
        rewrite_.Drop(i);
      } else {
        alike.push_back(static_cast<int>(i));
      }
    }
    rewrite_.Finish();
  }

 private:
  /// The inputs in an order that does not depend on how they were written.
  static std::vector<ValueId> Operands(const GraphCall& call) {
    std::vector<ValueId> operands = call.inputs;
    const int factor = call.op->commutes_factor;
    const bool commutes = call.op->commutes && (factor < 0 || IsNumberOne(call.attrs[factor]));
    if (commutes && operands[0] > operands[1]) std::swap(operands[0], operands[1]);
    return operands;
  }

  static size_t Hash(const GraphCall& call) {
    size_t hash = reinterpret_cast<size_t>(call.op);
    for (ValueId id : Operands(call)) hash = Mix(hash, static_cast<size_t>(id));
    for (const Value& value : call.attrs) hash = Mix(hash, HashAttribute(value));
    return hash;
  }

  static bool Equal(const GraphCall& a, const GraphCall& b) {
    const auto same = [](const GraphCall::Symbolic& x, const GraphCall::Symbolic& y) {
      return x.attr == y.attr && x.element == y.element && x.value == y.value;
    };
    return a.op == b.op && a.list_sizes == b.list_sizes && Operands(a) == Operands(b) &&
           std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end(), SameAttribute) &&
           std::equal(a.symbolic.begin(), a.symbolic.end(), b.symbolic.begin(), b.symbolic.end(), same);
  }

  /// Let the results of `first` stand for those of `second`: all of them, or none.
  bool Merge(GraphCall& first, const GraphCall& second) {
    if (first.outputs.size() != second.outputs.size()) return false;
    for (size_t k = 0; k < first.outputs.size(); ++k) {
      const ValueId kept = first.outputs[k], gone = second.outputs[k];
      if (kept == kNoValue || gone == kNoValue) continue;
      if (!SameForm(graph_.values[kept], graph_.values[gone]) || !rewrite_.MayStandFor(gone, kept)) return false;
    }
    for (size_t k = 0; k < first.outputs.size(); ++k) {
      ValueId& kept = first.outputs[k];
      const ValueId gone = second.outputs[k];
      if (kept == kNoValue) {
        kept = gone;  // nobody had asked for it before
      } else if (gone != kNoValue) {
        rewrite_.Substitute(gone, kept);
      }
    }
    return true;
  }

  static bool IsPlain(const Tensor& tensor) {
    return tensor.device().is_cpu() && tensor.is_contiguous() && !tensor.impl()->weak;
  }

  void MergeConstants() {
    constexpr size_t kLooked = 64;  // bytes of either end that go into the hash
    std::unordered_map<size_t, std::vector<ValueId>> alike;
    for (const auto& [id, tensor] : graph_.constants) {
      if (!IsPlain(tensor)) continue;
      const size_t bytes = tensor.numel() * tensor.item_size(), ends = std::min(bytes, kLooked);
      const auto* data = static_cast<const char*>(tensor.data());
      size_t hash = Mix(bytes, static_cast<size_t>(tensor.dtype()));
      hash = Mix(hash, std::hash<std::string_view>()({data, ends}));
      hash = Mix(hash, std::hash<std::string_view>()({data + bytes - ends, ends}));
      std::vector<ValueId>& others = alike[hash];
      const auto equal = [&](ValueId other) {
        const Tensor& first = graph_.constants.at(other);
        return first.dtype() == tensor.dtype() && first.shape() == tensor.shape() &&
               (first.data() == data || std::memcmp(first.data(), data, bytes) == 0);
      };
      const auto found = std::find_if(others.begin(), others.end(), equal);
      if (found == others.end() || !rewrite_.Substitute(id, *found)) others.push_back(id);
    }
  }

  Graph& graph_;
  Rewrite rewrite_;
  std::unordered_map<size_t, std::vector<int>> seen_;  ///< hash -> calls
};

void CommonSubexpressions(Graph& graph) { Merging(graph).Run(); }

DRAGON_PASS(CommonSubexpressions, 1, 130, "Compute what is asked for twice once.");

}  // namespace
}  // namespace dragon
