// What a generated kernel does with one pack of elements: loads, loops one after another, reductions that an element
// enters, stores. The kernels around it are in tile_source.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/kernels/reduction.h"
#include "core/kernels/tile_levels.h"
#include "core/kernels/tile_text.h"

namespace dragon::kernels {

class TileSteps {
 public:
  TileSteps(const TileProgram::State& state, const OnHost& on_host, bool packs)
      : state_(state),
        on_host_(on_host),
        made_(std::make_unique<TileSource>()),
        walk_(WalkOf(state.outputs, state.inputs, state.shape, state.row_axes, state.cost)),
        levels_(LevelsOf(state)) {
    if (!packs) walk_.width = 1;
    if (state.row_axes > 0) form_ = Form::kColumns;
    for (const TileStep& step : state.steps) {
      if (step.kind == Kind::kReduce) form_ = Form::kRows;
    }
  }

 protected:
  using Kind = TileStep::Kind;
  enum class Form {
    kPass,    ///< once over all elements
    kRows,    ///< row by row, of which each is reduced
    kColumns  ///< down the rows, of which columns are folded
  };

  static std::string Number(int64_t value) { return std::to_string(value); }
  bool IsRow(int32_t value) const { return state_.values[value].row; }
  const char* Type(int32_t value) const { return TypeText(state_.values[value].dtype); }
  static std::string Name(int32_t value) { return "v" + Number(value); }
  /// A fold of columns has a state for each of a pack's.
  bool IsColumns(const TileStep& step) const { return form_ == Form::kColumns && state_.folds[step.external].columns; }

  // --- arguments

  static ArgumentPlace AddAddress(ArgumentsText* arguments, const std::string& name) {
    return arguments->Add("char* " + name, sizeof(void*), alignof(void*), nullptr);
  }

  void AddAddresses() {
    const auto alignment = [this](size_t operand, DType dtype) {
      const int64_t item = ItemSize(dtype);
      made_->alignments.push_back(InnerStride(walk_, operand) == item ? item * walk_.width : item);
    };
    size_t operand = 0;
    for (size_t k = 0; k < state_.outputs.size(); ++k) {
      made_->outputs.push_back(AddAddress(&arguments_, "y" + Number(k)));
      alignment(operand++, state_.outputs[k].dtype);
    }
    for (size_t k = 0; k < state_.folds.size(); ++k) {
      made_->outputs.push_back(AddAddress(&arguments_, "total" + Number(k)));
    }
    if (made_->folds) made_->parts = AddAddress(&arguments_, "parts");
    for (size_t k = 0; k < state_.inputs.size(); ++k) {
      const DType dtype = state_.inputs[k].dtype;
      const std::string name = "x" + Number(k);
      if (on_host_[k]) {
        const auto bytes = static_cast<size_t>(ItemSize(dtype));
        made_->inputs.push_back(arguments_.Add(std::string(TypeText(dtype)) + " " + name, bytes, bytes, nullptr));
      } else {
        made_->inputs.push_back(AddAddress(&arguments_, name));
      }
      alignment(operand++, dtype);
    }
    const float zero = -0.0f;
    const int64_t elements = walk_.elements.numel, rows = walk_.rows.numel;
    arguments_.Add("float zero", sizeof(zero), alignof(float), &zero);
    arguments_.Add("int64_t elements", sizeof(elements), alignof(int64_t), &elements);
    arguments_.Add("int64_t rows", sizeof(rows), alignof(int64_t), &rows);
    const auto blocks = static_cast<int32_t>(made_->blocks);
    arguments_.Add("int32_t blocks", sizeof(blocks), alignof(int32_t), &blocks);
  }

  void AddFunctors() {
    for (size_t i = 0; i < state_.steps.size(); ++i) {
      const TileStep& step = state_.steps[i];
      if (step.kind != Kind::kLoop) continue;
      const std::string type = FunctorText(step.loop.source->text);
      named_ &= !type.empty();
      const std::string name = functors_.Name(FunctorFile(step.loop), type);
      arguments_.Add(name + " f" + Number(i), step.loop.functor_bytes, 16, step.functor.get());
    }
  }

  /// The reducers of reductions and folds, by step.
  void Reducers() {
    reducers_.resize(state_.steps.size());
    for (size_t i = 0; i < state_.steps.size(); ++i) {
      const TileStep& step = state_.steps[i];
      const bool folds = step.kind == Kind::kFold;
      if (step.kind != Kind::kReduce && !folds) continue;
      const Reduction* reduction = folds ? state_.folds[step.external].reduction : step.reduction;
      const std::string of = std::string("<") + Type(step.operands[1]);
      const bool extreme = reduction == &Amax || reduction == &Amin;
      const std::string type = reduction == &Prod ? "ProdOf" + of + ">"
                               : extreme          ? "ExtremeOf" + of + (reduction == &Amax ? ", true>" : ", false>")
                                                  : "SumOf" + of + (reduction == &Mean ? ", true>" : ", false>");
      reducers_[i] =
          functors_.Name(extreme ? "core/kernels/reduction/extreme.cc" : "core/kernels/reduction/sum.cc", type);
    }
  }

  // --- steps

  /// What a loop or a conversion makes of its operands' names.
  std::string Made(size_t index) const {
    const TileStep& step = state_.steps[index];
    const int32_t to = step.operands[0];
    if (step.kind == Kind::kExpand) return Name(step.operands[1]);
    if (step.kind == Kind::kConvert) return std::string("Cast<") + Type(to) + ">(" + Name(step.operands[1]) + ")";
    std::string call = std::string("static_cast<") + TypeText(step.loop.dtypes[0]) + ">(a.f" + Number(index) + "(";
    for (size_t k = 1; k < step.operands.size(); ++k) {
      const DType takes = step.loop.dtypes[k];
      const std::string name = Name(step.operands[k]);
      const bool as_it_is = takes == state_.values[step.operands[k]].dtype;
      call += k > 1 ? ", " : "";
      call += as_it_is ? name : std::string("bits::Cast<") + TypeText(takes) + ">(" + name + ")";
    }
    call += "))";
    const DType dtype = state_.values[to].dtype;
    if (step.loop.dtypes[0] != dtype) return std::string("bits::Cast<") + TypeText(dtype) + ">(" + call + ")";
    return MeetsLoop(to) ? "Kept(" + call + ", a.zero)" : call;
  }
  /// Whether another operator takes a value as it is: what is rounded in between needs no keeping.
  bool MeetsLoop(int32_t value) const {
    return std::any_of(state_.steps.begin(), state_.steps.end(), [value](const TileStep& step) {
      return step.kind == Kind::kLoop &&
             std::find(step.operands.begin() + 1, step.operands.end(), value) != step.operands.end();
    });
  }

  std::string Defined(size_t index) const {
    const int32_t to = state_.steps[index].operands[0];
    return std::string("const ") + Type(to) + ' ' + Name(to) + " = " + Made(index) + ";\n";
  }

  size_t OperandOfInput(size_t input) const { return state_.outputs.size() + input; }

  /// One number of an input that does not change along the elements.
  std::string One(size_t input, bool rows) {
    const std::string name = "x" + Number(input);
    if (on_host_[input]) return "a." + name;
    const std::string offset = places_->Offset(rows, OperandOfInput(input));
    return std::string("LoadOne<") + TypeText(state_.inputs[input].dtype) + ">(a." + name + " + " + Base(rows, input) +
           offset + ")";
  }
  /// Elements' offsets come after their row's.
  std::string Base(bool rows, size_t input) const {
    return form_ != Form::kPass && !rows ? "o" + Number(OperandOfInput(input)) + " + " : "";
  }

  /// A pack, or the one number that a pack repeats; lines for the values of inputs that a level reads first.
  std::string LoadLines(int level) {
    std::string lines;
    for (size_t k = 0; k < state_.inputs.size(); ++k) {
      const int32_t value = state_.input_values[k];
      if (IsRow(value) || levels_.level[value] != level) continue;
      const std::string type = Type(value),
                        place = "a.x" + Number(k) + " + " + Base(false, k) + places_->Offset(false, OperandOfInput(k));
      const std::string packed = type + ", " + Number(walk_.width) + ">(" + place;
      const int64_t step = InnerStride(walk_, OperandOfInput(k));
      if (on_host_[k] || step == 0) {
        lines += std::string("const ") + type + " p" + Number(k) + " = " +
                 (form_ != Form::kPass && !on_host_[k] ? "left <= 0 ? " + type + "{} : " : "") + One(k, false) + ";\n";
      } else if (step == ItemSize(state_.inputs[k].dtype)) {
        lines += "const auto p" + Number(k) + " = Load<" + packed + ", left);\n";
      } else {
        lines +=
            "const auto p" + Number(k) + " = LoadEach<" + packed + ", " + Neighbour(OperandOfInput(k)) + ", left);\n";
      }
    }
    return lines;
  }

  /// The bytes between neighbours of an operand that are not side by side.
  std::string Neighbour(size_t operand) {
    const int64_t step = InnerStride(walk_, operand);
    const std::string name = "neighbour" + Number(operand);
    if (neighbours_.insert(operand).second) arguments_.Add("int64_t " + name, sizeof(step), sizeof(step), &step);
    return "a." + name;
  }

  std::string HeldName(int32_t value, const std::string& pack) const {
    return "h" + Number(value) + "[" + pack + " * " + Number(walk_.width) + " + j]";
  }

  /// A level's work on element j of a pack.
  std::string ElementLines(int level) {
    std::string lines;
    for (size_t k = 0; k < state_.inputs.size(); ++k) {
      const int32_t value = state_.input_values[k];
      if (IsRow(value) || levels_.level[value] != level) continue;
      const bool one = on_host_[k] || InnerStride(walk_, OperandOfInput(k)) == 0;
      lines += std::string("const ") + Type(value) + ' ' + Name(value) + " = p" + Number(k) + (one ? "" : ".at[j]") +
               ";\n" + Keep(value);
    }
    for (const int32_t value : levels_.held) {
      if (levels_.level[value] < level) {
        lines += std::string("const ") + Type(value) + ' ' + Name(value) + " = " + HeldName(value, "k") + ";\n";
      }
    }
    for (size_t i = 0; i < state_.steps.size(); ++i) {
      const TileStep& step = state_.steps[i];
      const int32_t to = step.operands[0];
      if (step.kind == Kind::kFold ? level == levels_.last
                                   : step.kind == Kind::kReduce && levels_.depth[to] == level + 1) {
        lines += Combined(i);
      } else if (to >= 0 && !IsRow(to) && levels_.level[to] == level) {
        lines += Defined(i) + Keep(to);
      }
    }
    for (size_t k = 0; level == levels_.last && k < state_.outputs.size(); ++k) {
      const int32_t value = state_.output_values[k];
      if (!IsRow(value)) lines += "q" + Number(k) + ".at[j] = " + Name(value) + ";\n";
    }
    return lines;
  }
  std::string Keep(int32_t value) const {
    return levels_.held.count(value) ? HeldName(value, "k") + " = " + Name(value) + ";\n" : "";
  }
  /// An element enters a state, if there is one at this place.
  std::string Combined(size_t index) const {
    const TileStep& step = state_.steps[index];
    const bool columns = step.kind == Kind::kFold && IsColumns(step);
    const std::string s = "s" + Number(index) + (columns ? "[j]" : ""), r = reducers_[index] + "{}";
    return "if (j < left) " + s + " = " + r + ".Combine(" + s + ", " + r + ".Map(" + Name(step.operands[1]) +
           ", 0));\n";
  }

  std::string StoreLines() {
    std::string lines;
    for (size_t k = 0; k < state_.outputs.size(); ++k) {
      if (IsRow(state_.output_values[k])) continue;
      const std::string place =
          "a.y" + Number(k) + " + " + (form_ != Form::kPass ? "o" + Number(k) + " + " : "") + places_->Offset(false, k);
      const int64_t step = InnerStride(walk_, k);
      const bool packed = step == ItemSize(state_.outputs[k].dtype) || walk_.elements.numel == 1;
      lines += packed ? "Store(" + place + ", q" + Number(k) + ", left);\n"
                      : "StoreEach(" + place + ", " + Neighbour(k) + ", q" + Number(k) + ", left);\n";
    }
    return lines;
  }

  /// A level's work on one pack, of which `left` elements are there.
  std::string PackLines(int level) {
    std::string lines = LoadLines(level);
    for (size_t k = 0; level == levels_.last && k < state_.outputs.size(); ++k) {
      const int32_t value = state_.output_values[k];
      if (!IsRow(value))
        lines += std::string("Pack<") + Type(value) + ", " + Number(walk_.width) + "> q" + Number(k) + ";\n";
    }
    lines += "#pragma unroll\nfor (int j = 0; j < " + Number(walk_.width) + "; ++j) {\n" + ElementLines(level) + "}\n";
    return level == levels_.last ? lines + StoreLines() : lines;
  }

  /// The states that elements of this pass enter, or those of the folds.
  std::string States(bool folds, int level) const {
    std::string lines;
    for (size_t i = 0; i < state_.steps.size(); ++i) {
      const TileStep& step = state_.steps[i];
      const bool wanted =
          folds ? step.kind == Kind::kFold : step.kind == Kind::kReduce && levels_.depth[step.operands[0]] == level + 1;
      if (!wanted) continue;
      const std::string s = "s" + Number(i), identity = reducers_[i] + "{}.Identity()", width = Number(walk_.width);
      lines += folds && IsColumns(step) ? "decltype(" + identity + ") " + s + "[" + width + "];\nfor (int j = 0; j < " +
                                              width + "; ++j) " + s + "[j] = " + identity + ";\n"
                                        : "auto " + s + " = " + identity + ";\n";
    }
    return lines;
  }

  const TileProgram::State& state_;
  const OnHost& on_host_;
  std::unique_ptr<TileSource> made_;
  TileWalk walk_;
  Form form_ = Form::kPass;
  ArgumentsText arguments_;
  FunctorsText functors_;
  PlacesText* places_ = nullptr;
  const TileLevels levels_;
  std::set<size_t> neighbours_;
  std::vector<std::string> reducers_;  ///< of steps
  bool named_ = true;
};

}  // namespace dragon::kernels
