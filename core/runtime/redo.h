// A compiled call done again, operator by operator, where its gradients are to have gradients: a plan of a backward
// pass has no history, but what the program asked for has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/framework/autocast.h"
#include "core/framework/procedure.h"

namespace dragon {

/// What a program asked for in a call; or, without a procedure, why nobody knows.
struct Asked {
  std::shared_ptr<const Procedure> procedure;
  std::vector<Value> known;  ///< the first numbers, of a part of a program
  std::string refusal;
};
/// Finds it out for a call with these arguments.
using Asker = std::function<Asked(std::span<const Tensor> arguments)>;

/// How gradients flow through a call, the same way in all calls of one program.
struct GradientFlow {
  std::vector<int> roots;                  ///< which results have gradients
  std::vector<int> wanted;                 ///< of which inputs gradients may be wanted
  std::vector<std::vector<char>> reaches;  ///< by root: to which of the wanted inputs they flow
  std::vector<int> grad_index{};           ///< by wanted input: output of the backward plan; -1: no gradient flows
};

/// What is needed to do one call again.
class DRAGON_API Redo {
 public:
  /// `inputs`: all that the call reads. `generator`: its state before the call, if that drew.
  Redo(std::shared_ptr<const Asker> asker, std::shared_ptr<const GradientFlow> flow, std::span<const Tensor> arguments,
       std::span<const Tensor> inputs, std::vector<double> symbols, std::vector<uint8_t> generator);

  /// The gradients with respect to the inputs, recorded; undefined where none flows.
  Tensors Gradients(const Tensors& grads) const;

 private:
  /// A tensor as it was at the call.
  struct Kept {
    Tensor tensor;
    uint32_t version = 0;
  };
  static std::vector<Kept> Keep(std::span<const Tensor> tensors);
  static void CheckUnwritten(const std::vector<Kept>& kept);

  std::shared_ptr<const Asker> asker_;
  std::shared_ptr<const GradientFlow> flow_;
  std::vector<Kept> arguments_, inputs_;
  std::vector<double> symbols_;
  std::vector<uint8_t> generator_;
  std::optional<DType> autocast_ = AutocastDType();
};

}  // namespace dragon
