// Calls become loops, reductions and folds of a tile program; whatever does not fit makes no program at all.
#include "core/ops/fused/build.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "core/framework/infer.h"
#include "core/kernels/reduction.h"
#include "core/ops/fused/probe.h"

namespace dragon {

namespace {

using kernels::TileOperand;
using kernels::TileProgram;

/// Bytes of a row that still leave a few of them in the second-level cache.
constexpr int64_t kMostRowBytes = 1 << 16;

/// Reductions whose parts may be reduced again by the same kernel, all of (x, axis, keepdims, dtype if they have one).
struct Folding {
  const kernels::Reduction* reduction;
  bool mean;
};
const Folding* FindFolding(const std::string& name) {
  static const std::map<std::string, Folding> kFoldings = {
      {"sum", {&kernels::Sum, false}},   {"mean", {&kernels::Sum, true}},   {"prod", {&kernels::Prod, false}},
      {"amax", {&kernels::Amax, false}}, {"amin", {&kernels::Amin, false}},
  };
  const auto found = kFoldings.find(name);
  return found == kFoldings.end() ? nullptr : &found->second;
}

/// The dtypes that a reduction takes its elements in, adds up in, and returns.
struct FoldDTypes {
  DType in, parts, result;
};

/// Nothing where a program would not round as the operator does: it adds 16 bits up in 32 and rounds once, in the end.
std::optional<FoldDTypes> FoldDTypesOf(const GraphCall& call, DType x) {
  if (IsComplex(x) || IsKept(x)) return std::nullopt;
  const bool has_dtype = call.op->schema.Find("dtype") >= 0;
  if (!has_dtype) return FoldDTypes{x, x, x};  // extremes
  const Value& said = call.attr("dtype");
  const DType in = said.is_none() ? x : said.dtype();
  const bool floats = IsFloating(in);
  const bool widens = in == DType::kFloat32 || in == DType::kFloat64 ? !(x == DType::kFloat64 && in != x)
                                                                     : in == DType::kInt64 && !IsFloating(x);
  if (in != x && !widens) return std::nullopt;
  if (!said.is_none() && !floats && in != DType::kInt64) return std::nullopt;  // a total that is cut down
  const DType parts = !floats ? DType::kInt64 : IsHalf(in) ? DType::kFloat32 : in;
  return FoldDTypes{in, parts, floats ? in : DType::kInt64};
}

TileOperand OperandOf(const Tensor& tensor) { return {tensor.dtype(), tensor.shape(), tensor.strides()}; }

bool SameNumber(const Tensor& a, const Tensor& b) {
  if (!a.device().is_cpu() || !b.device().is_cpu()) return false;  // nobody looks into a device's memory here
  return a.numel() == 1 && b.numel() == 1 && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), a.item_size()) == 0;
}

class Builder {
 public:
  Builder(const Graph& body, const std::vector<Tensor>& values, std::span<const Tensor> outputs)
      : body_(body), values_(values), outputs_(outputs), made_(std::make_shared<FusedProgram>()) {}

  std::shared_ptr<const FusedProgram> Build() {
    if (!FindShape()) return made_;
    program_ = std::make_unique<TileProgram>(shape_, std::max(row_axes_, 0));
    numbers_.resize(body_.values.size(), -1);
    for (ValueId id : body_.inputs) numbers_[id] = program_->AddInput(OperandOf(values_[id]));
    for (const auto& [id, tensor] : body_.constants) numbers_[id] = Constant(tensor);
    for (size_t i = 0; i < body_.calls.size(); ++i) {
      if (!(forms_[i].kind == FoldForm::Kind::kNone ? AddLoop(body_.calls[i]) : AddFold(body_.calls[i], forms_[i]))) {
        return made_;
      }
    }
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const ValueId id = body_.outputs[k];
      if (folds_.count(id)) continue;
      if (numbers_[id] < 0) return made_;
      program_->AddOutput(numbers_[id], OutputOf(outputs_[k]));
      made_->output_order.push_back(static_cast<int32_t>(k));
    }
    for (ValueId id : fold_order_) {
      const auto place = std::find(body_.outputs.begin(), body_.outputs.end(), id) - body_.outputs.begin();
      if (place == static_cast<int64_t>(body_.outputs.size()) || !outputs_[place].is_contiguous()) return made_;
      made_->output_order.push_back(static_cast<int32_t>(place));
    }
    if (made_->output_order.size() != outputs_.size()) return made_;
    program_->Finish();
    made_->program = std::move(program_);
    return made_;
  }

 private:
  /// What the program walks over: the shape of all elements that are made or reduced. False if reductions disagree.
  bool FindShape() {
    for (const GraphCall& call : body_.calls) {
      const bool loop = call.op->pointwise;
      forms_.push_back(loop ? FoldForm{} : FoldFormOf(call, values_[call.inputs[0]]));
      const FoldForm& form = forms_.back();
      if (!loop && form.kind == FoldForm::Kind::kNone) return false;
      if (call.outputs.size() != 1 || call.outputs[0] == kNoValue) return false;
      shape_ = BroadcastShapes("fused", shape_, values_[loop ? call.outputs[0] : call.inputs[0]].shape());
      if (form.kind != FoldForm::Kind::kRows && form.kind != FoldForm::Kind::kColumns) continue;
      if (row_axes_ >= 0 && row_axes_ != form.axes) return false;
      row_axes_ = form.axes;
    }
    bool folds = false;
    int64_t numel = 1;
    for (const FoldForm& form : forms_) folds |= form.kind != FoldForm::Kind::kNone;
    for (int64_t size : shape_) numel *= size;
    for (int axis = 0; axis < shape_.size(); ++axis) {
      row_shape_.push_back(axis < shape_.size() - std::max(row_axes_, 0) ? shape_[axis] : 1);
    }
    return !folds || numel > 0;
  }

  TileProgram::ValueId Constant(const Tensor& tensor) {
    for (size_t k = 0; k < made_->constants.size(); ++k) {  // a number that comes twice fills one tile
      if (SameNumber(tensor, made_->constants[k])) return numbers_of_constants_[k];
    }
    made_->constants.push_back(tensor);
    numbers_of_constants_.push_back(program_->AddInput(OperandOf(tensor)));
    return numbers_of_constants_.back();
  }

  bool AddLoop(const GraphCall& call) {
    const Tensor& y = values_[call.outputs[0]];
    const std::optional<HeardLoop> heard = HearLoop(body_, call, values_);
    if (!heard || (y.shape() != shape_ && (row_axes_ <= 0 || y.shape() != row_shape_))) return false;
    std::vector<TileProgram::ValueId> inputs;
    auto number = heard->numbers.begin();
    for (int32_t input : heard->inputs) {
      inputs.push_back(input >= 0 ? numbers_[call.inputs[input]] : Constant(*number++));
      if (inputs.back() < 0) return false;  // a fold, which is complete only in the end
    }
    numbers_[call.outputs[0]] =
        program_->AddLoop(heard->loop, heard->functor.data(), inputs, heard->dtypes.data(), y.dtype());
    return true;
  }

  bool AddFold(const GraphCall& call, const FoldForm& form) {
    const ValueId made = call.outputs[0], from = call.inputs[0];
    const Folding& folding = *FindFolding(call.op->name());
    const std::optional<FoldDTypes> dtypes = FoldDTypesOf(call, values_[from].dtype());
    if (values_[from].shape() != shape_ || numbers_[from] < 0 || !dtypes) return false;
    if (form.kind == FoldForm::Kind::kRows) {
      const kernels::Reduction& reduction = folding.mean ? kernels::Mean : *folding.reduction;
      numbers_[made] = program_->AddReduction(reduction, numbers_[from], dtypes->in, dtypes->result);
      // Without the reduced axes, the result lines up with other axes than the program's: it can only leave.
      return values_[made].shape() == row_shape_ || !IsRead(made);
    }
    const bool columns = form.kind == FoldForm::Kind::kColumns;
    const TileProgram::ValueId read = program_->Converted(numbers_[from], dtypes->in);
    program_->AddFold(*folding.reduction, read, dtypes->parts, dtypes->result, columns, folding.mean);
    folds_[made] = true;
    fold_order_.push_back(made);
    return !IsRead(made);
  }

  bool IsRead(ValueId id) const {
    return std::any_of(body_.calls.begin(), body_.calls.end(), [&](const GraphCall& call) {
      return std::find(call.inputs.begin(), call.inputs.end(), id) != call.inputs.end();
    });
  }

  /// An output as it lines up with the program's shape: rows' results may have lost the reduced axes.
  TileOperand OutputOf(const Tensor& y) const {
    TileOperand operand = OperandOf(y);
    if (row_axes_ > 0 && y.shape() != shape_ && y.shape() != row_shape_) {
      for (int i = 0; i < row_axes_; ++i) operand.shape.push_back(1), operand.strides.push_back(0);
    }
    return operand;
  }

  const Graph& body_;
  const std::vector<Tensor>& values_;
  std::span<const Tensor> outputs_;
  std::shared_ptr<FusedProgram> made_;
  std::unique_ptr<TileProgram> program_;
  std::vector<FoldForm> forms_;  ///< of each call
  Dims shape_, row_shape_;
  int row_axes_ = -1;
  std::vector<TileProgram::ValueId> numbers_, numbers_of_constants_;
  std::map<ValueId, bool> folds_;
  std::vector<ValueId> fold_order_;
};

}  // namespace

std::shared_ptr<const FusedProgram> BuildFused(const Graph& body, const std::vector<Tensor>& values,
                                               std::span<const Tensor> outputs) {
  return Builder(body, values, outputs).Build();
}

FoldForm FoldFormOf(const GraphCall& call, const Tensor& x) {
  if (!FindFolding(call.op->name()) || !x.defined() || x.ndim() == 0) return {};
  const std::optional<FoldDTypes> dtypes = FoldDTypesOf(call, x.dtype());
  if (!dtypes) return {};
  const Dims axes = NormalizeAxes("fused", call.attr("axis").is_none() ? Dims() : call.attr("axis").ints(), x.ndim());
  const int count = axes.size(), ndim = x.ndim();
  if (count == ndim) return {FoldForm::Kind::kAll, 0};
  if (axes[count - 1] - axes[0] + 1 != count) return {};
  const bool rows = axes[count - 1] == ndim - 1;
  if (!rows && axes[0] != 0) return {};
  const int row_axes = rows ? count : ndim - count;
  int64_t bytes = std::max({ItemSize(x.dtype()), ItemSize(dtypes->in), ItemSize(dtypes->parts)});
  for (int axis = ndim - row_axes; axis < ndim; ++axis) bytes *= x.shape()[axis];
  if (bytes > kMostRowBytes) return {};
  return {rows ? FoldForm::Kind::kRows : FoldForm::Kind::kColumns, row_axes};
}

}  // namespace dragon
