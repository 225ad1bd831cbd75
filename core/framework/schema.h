// The one line in which an operator tells its arguments; bindings, graphs, docs and errors all read it here.
//
//   "layer_norm(Tensor x, Tensor? weight, Tensor? bias, int[] shape, *, float eps=1e-5) -> (Tensor y, Tensor mean,
//   Tensor rstd)"
//
// Types: Tensor, Tensor[] and the attributes int, float, bool, Scalar, str, dtype, device, Generator, Graph, int[],
// float[].
// `?` allows None. `int[2]` repeats a lone int twice. `Tensor!` is written in place. `*` starts keyword-only arguments.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/framework/value.h"

namespace dragon {

enum class ArgumentType : uint8_t {
  kTensor,
  kTensorList,
  kInt,
  kFloat,
  kBool,
  kScalar,
  kString,
  kDType,
  kDevice,
  kGenerator,
  kInts,
  kFloats,
  kGraph
};

struct DRAGON_API Argument {
  std::string name;
  ArgumentType type = ArgumentType::kTensor;
  bool optional = false;  ///< None may be given (for a list of tensors: its elements may be None)
  bool mutated = false;   ///< the call writes into it
  bool keyword_only = false;
  bool has_default = false;
  int repeat = 0;  ///< for int[n]: a lone int stands for n of them
  Value default_value;
  int slot = 0;  ///< among the tensor arguments, or among the attributes

  bool is_tensor() const { return type == ArgumentType::kTensor || type == ArgumentType::kTensorList; }
  /// The type as the schema wrote it, e.g. "int[2]?".
  std::string type_name() const;
};

/// An argument's name as code says it: a literal, whose hash the compiler makes, so that finding the argument costs a
/// comparison or two.
struct ArgumentName {
  consteval ArgumentName(const char* name) : text(name), hash(HashOf(name)) {}  // NOLINT: a literal is a name
  static constexpr uint32_t HashOf(std::string_view name) {
    uint32_t hash = 2166136261u;
    for (char letter : name) hash = (hash ^ static_cast<uint8_t>(letter)) * 16777619u;
    return hash;
  }
  const char* text;
  uint32_t hash;
};

class DRAGON_API Schema {
 public:
  /// Parse the line; a malformed one is a ValueError that points at the place.
  static Schema Parse(const std::string& line);

  const std::string& name() const { return name_; }
  const std::string& line() const { return line_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<std::string>& returns() const { return returns_; }
  /// The result is one list of tensors of unknown length: "-> Tensor[]".
  bool returns_list() const { return returns_list_; }
  int tensor_count() const { return static_cast<int>(tensors_.size()); }
  int attr_count() const { return static_cast<int>(attrs_.size()); }
  const Argument& tensor(int slot) const { return arguments_[tensors_[slot]]; }
  const Argument& attr(int slot) const { return arguments_[attrs_[slot]]; }
  /// True when some argument is a list of tensors, so a call needs the lists' lengths.
  bool has_lists() const { return has_lists_; }
  bool mutates() const { return mutates_; }
  /// The position of a tensor argument among those, of another among the attributes. A name that the operator does not
  /// know is a fault of Dragon's own code, and a RuntimeError.
  int TensorSlot(ArgumentName name) const { return SlotOf(tensor_hashes_, name); }
  int AttrSlot(ArgumentName name) const { return SlotOf(attr_hashes_, name); }
  /// Where a tensor argument stands among the inputs of a call whose lists have these lengths; where a list begins.
  int PlaceOf(ArgumentName name, std::span<const int32_t> list_sizes) const {
    const int slot = TensorSlot(name);
    return has_lists_ ? BeginOf(slot, list_sizes) : slot;
  }
  int BeginOf(int tensor_slot, std::span<const int32_t> list_sizes) const;
  /// The position of an argument by name; -1 if there is none.
  int Find(const std::string& name) const;
  /// The position among the tensor arguments (or among the returns, counted from -1 downward) of a name; for gradients.
  int FindSlot(const std::string& name, bool* is_output) const;

 private:
  /// Hashes of names; 0 behind the last.
  static constexpr int kMostArguments = 24;
  using Hashes = std::array<uint32_t, kMostArguments>;
  // Written out, so that most reads cost a comparison or two with memory that lies beside the schema.
  int SlotOf(const Hashes& hashes, ArgumentName name) const {
    if (DRAGON_LIKELY(hashes[0] == name.hash)) return 0;
    if (hashes[1] == name.hash) return 1;
    if (hashes[2] == name.hash) return 2;
    if (hashes[3] == name.hash) return 3;
    return LaterSlotOf(hashes, name);
  }
  int LaterSlotOf(const Hashes& hashes, ArgumentName name) const;
  [[noreturn]] void Unknown(ArgumentName name) const;

  std::string name_, line_;
  std::vector<Argument> arguments_;
  std::vector<std::string> returns_;
  std::vector<int> tensors_, attrs_;
  Hashes tensor_hashes_{}, attr_hashes_{};
  bool returns_list_ = false, has_lists_ = false, mutates_ = false;
};

}  // namespace dragon
