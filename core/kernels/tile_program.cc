// Building a tile program: values in the dtypes that loops want, an order of axes, a size of tiles.
#include "core/kernels/tile_program.h"

#include <algorithm>
#include <numeric>

#include "core/device/parallel.h"
#include "core/kernels/stream.h"
#include "core/kernels/tile_state.h"
#include "core/kernels/transfer.h"

namespace dragon::kernels {

namespace {

/// Bytes of a tile: with the handful that is alive at a time, it stays in the nearest caches.
constexpr int64_t kTileBytes = 8192;
/// From here on an operand that runs across the program's direction is first copied straight.
constexpr int64_t kWorthStraightening = 1 << 16;

/// Whether axis a should stand outside axis b: the first operand that moves along both decides.
bool Before(const std::vector<Dims>& strides, int a, int b) {
  for (const Dims& operand : strides) {
    const int64_t of_a = std::abs(operand[a]), of_b = std::abs(operand[b]);
    if (of_a != 0 && of_b != 0 && of_a != of_b) return of_a > of_b;
  }
  return false;
}

TilePlace MakePlace(DType dtype, const Dims& shape, const Dims& strides, const std::vector<int>& order) {
  TilePlace place;
  place.dtype = dtype;
  place.item = place.extent = ItemSize(dtype);
  for (int axis : order) {
    const int64_t size = shape[axis], stride = strides[axis];
    if (size == 1) continue;
    if (stride > 0) place.extent += (size - 1) * stride;
    if (place.ndim > 0 && place.strides[place.ndim - 1] == stride * size) {
      place.shape[place.ndim - 1] *= size;
      place.strides[place.ndim - 1] = stride;
    } else {
      place.shape[place.ndim] = size;
      place.strides[place.ndim++] = stride;
    }
  }
  if (place.ndim == 0) place.shape[0] = 1, place.strides[0] = place.item, place.ndim = 1;
  place.direct = place.ndim == 1 && place.strides[0] == place.item;
  if (place.strides[0] == 0) place.period = place.numel() / place.shape[0];
  return place;
}

}  // namespace

Dims ByteStrides(const TileOperand& operand, const Dims& shape) {
  Dims strides = Dims::Filled(shape.size(), 0);
  const int shift = shape.size() - operand.shape.size();
  if (shift < 0) throw ValueError("tile program").Got(operand.shape).Expected("a shape that broadcasts to ", shape);
  for (int axis = 0; axis < operand.shape.size(); ++axis) {
    const int64_t size = operand.shape[axis];
    if (size != 1 && size != shape[axis + shift]) {
      throw ValueError("tile program").Got(operand.shape).Expected("a shape that broadcasts to ", shape);
    }
    if (size != 1) strides[axis + shift] = operand.strides[axis] * ItemSize(operand.dtype);
  }
  return strides;
}

std::vector<int> AxisOrder(const std::vector<Dims>& strides, int ndim, bool sorts) {
  std::vector<int> order(ndim);
  std::iota(order.begin(), order.end(), 0);
  for (int i = 1; sorts && i < ndim; ++i) {
    for (int j = i; j > 0 && Before(strides, order[j], order[j - 1]); --j) std::swap(order[j], order[j - 1]);
  }
  return order;
}

TileProgram::TileProgram(Dims shape, int row_axes) : state_(std::make_unique<State>()) {
  state_->row_axes = row_axes;
  for (int axis = 0; axis < shape.size(); ++axis) {
    state_->numel *= shape[axis];
    if (axis >= shape.size() - row_axes) state_->row *= shape[axis];
  }
  state_->shape = std::move(shape);
}
TileProgram::~TileProgram() = default;

bool TileProgram::State::IsRow(const Dims& operand) const {
  if (row_axes == 0) return false;
  for (int axis = std::max(operand.size() - row_axes, 0); axis < operand.size(); ++axis) {
    if (operand[axis] != 1) return false;
  }
  return true;
}

int32_t TileProgram::State::AddValue(DType dtype, bool is_row) {
  values.push_back({dtype, is_row});
  made_by.push_back(-1);
  return static_cast<int32_t>(values.size() - 1);
}

/// Append a step whose result, of `dtype`, becomes the first of its operands.
int32_t TileProgram::State::AddStep(TileStep step, DType dtype) {
  const int32_t value = AddValue(dtype, step.kind != TileStep::Kind::kExpand && step.row);
  step.operands.insert(step.operands.begin(), value);
  made_by[value] = static_cast<int32_t>(steps.size());
  steps.push_back(std::move(step));
  return value;
}

int32_t TileProgram::State::Converted(int32_t value, DType dtype) {
  if (values[value].dtype == dtype) return value;
  const auto [found, fresh] = converted.try_emplace({value, dtype}, -1);
  if (fresh) {
    TileStep step{TileStep::Kind::kConvert, values[value].row};
    step.operands = {value};
    found->second = AddStep(std::move(step), dtype);
    cost += 1;
  }
  return found->second;
}

int32_t TileProgram::State::Expanded(int32_t value) {
  if (!values[value].row) return value;
  const auto [found, fresh] = expanded.try_emplace(value, -1);
  if (fresh) {
    TileStep step{TileStep::Kind::kExpand};
    step.operands = {value};
    found->second = AddStep(std::move(step), values[value].dtype);
  }
  return found->second;
}

TileProgram::ValueId TileProgram::AddInput(TileOperand operand) {
  const int32_t value = state_->AddValue(operand.dtype, state_->IsRow(operand.shape));
  state_->values[value].input = static_cast<int32_t>(state_->inputs.size());
  state_->inputs.push_back(std::move(operand));
  state_->input_values.push_back(value);
  return value;
}

TileProgram::ValueId TileProgram::AddLoop(const Loop& loop, const void* functor, const std::vector<ValueId>& inputs,
                                          const DType* shown, DType dtype) {
  bool row = !inputs.empty();
  for (ValueId input : inputs) row &= state_->values[input].row;
  TileStep step{TileStep::Kind::kLoop, row};
  step.loop = loop;
  const size_t words = (loop.functor_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  std::shared_ptr<std::max_align_t[]> copy(new std::max_align_t[words ? words : 1]);
  std::memcpy(copy.get(), functor, loop.functor_bytes);
  step.functor = std::move(copy);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const bool as_it_is = shown[1 + k] == loop.dtypes[1 + k];
    const int32_t wide = as_it_is ? inputs[k] : state_->Converted(inputs[k], loop.dtypes[1 + k]);
    step.operands.push_back(row ? wide : state_->Expanded(wide));
  }
  state_->cost += loop.cost ? loop.cost : 1;
  if (shown[0] == loop.dtypes[0]) return state_->AddStep(std::move(step), dtype);
  return state_->Converted(state_->AddStep(std::move(step), loop.dtypes[0]), dtype);
}

TileProgram::ValueId TileProgram::Converted(ValueId value, DType dtype) { return state_->Converted(value, dtype); }

TileProgram::ValueId TileProgram::AddReduction(const Reduction& reduction, ValueId x, DType in, DType dtype) {
  TileStep step{TileStep::Kind::kReduce, true};
  step.reduction = &reduction;
  step.operands = {state_->Expanded(state_->Converted(x, in))};
  state_->cost += 1;
  return state_->AddStep(std::move(step), dtype);
}

void TileProgram::AddFold(const Reduction& reduction, ValueId x, DType parts, DType dtype, bool columns, bool mean) {
  TileStep step{TileStep::Kind::kFold};
  step.external = static_cast<int32_t>(state_->folds.size());
  step.operands = {-1, state_->Expanded(state_->Converted(x, parts))};
  state_->cost += 1;
  state_->steps.push_back(std::move(step));
  state_->folds.push_back({&reduction, parts, dtype, columns ? state_->row : 1, columns, mean});
}

void TileProgram::AddOutput(ValueId value, TileOperand operand) {
  const bool row = state_->IsRow(operand.shape);
  value = state_->Converted(value, operand.dtype);
  if (!row) value = state_->Expanded(value);
  state_->outputs.push_back(std::move(operand));
  state_->output_values.push_back(value);
}

void TileProgram::State::PlaceOperands() {
  std::vector<Dims> strides;
  for (const TileOperand& operand : outputs) strides.push_back(ByteStrides(operand, shape));
  for (const TileOperand& operand : inputs) strides.push_back(ByteStrides(operand, shape));
  const std::vector<int> order = AxisOrder(strides, shape.size(), row_axes == 0);
  const std::vector<int> outer(order.begin(), order.end() - row_axes);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const bool is_row = values[output_values[k]].row;
    output_places.push_back(MakePlace(outputs[k].dtype, shape, strides[k], is_row ? outer : order));
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const bool is_row = values[input_values[k]].row;
    TilePlace place = MakePlace(inputs[k].dtype, shape, strides[outputs.size() + k], is_row ? outer : order);
    if (place.numel() >= kWorthStraightening && RunsAcross(place.ndim, place.shape, place.strides, place.item)) {
      place.direct = place.straightened = true;
    }
    input_places.push_back(place);
  }
}

/// Tiles of whole rows, and of whole periods of what repeats itself.
void TileProgram::State::ChooseTile() {
  int64_t widest = 1;
  for (const TileValue& value : values) widest = std::max<int64_t>(widest, ItemSize(value.dtype));
  const int64_t target = kTileBytes / widest;
  int64_t unit = row;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const int64_t period = input_places[k].period * (values[input_values[k]].row ? row : 1);
    if (period <= 1) continue;
    const int64_t common = std::lcm(unit, period);
    if (common <= 2 * target) unit = common;
  }
  tile = unit * std::max<int64_t>(1, target / unit);
  const int64_t threads = numel * cost >= 2 * kGrain ? NumThreads() : 1;
  const int64_t share = (numel + threads - 1) / threads;
  if (share < tile) tile = (share + unit - 1) / unit * unit;
  tile = std::max<int64_t>(tile, 1);
}

void TileProgram::State::FindInvariants() {
  for (size_t k = 0; k < inputs.size(); ++k) {
    TileValue& value = values[input_values[k]];
    const int64_t period = input_places[k].period * (value.row ? row : 1);
    value.invariant = !input_places[k].direct && period > 0 && tile % period == 0;
  }
  for (const TileStep& step : steps) {
    if (step.operands[0] < 0) continue;
    bool invariant = true;
    for (size_t k = 1; k < step.operands.size(); ++k) invariant &= values[step.operands[k]].invariant;
    values[step.operands[0]].invariant = invariant;
  }
}

bool TileProgram::State::Streams(int output) const {
  const TilePlace& place = output_places[output];
  return place.direct && place.numel() * place.item >= kStreamBytes && tile * place.item % 16 == 0;
}

void TileProgram::Finish() {
  State& state = *state_;
  if (state.numel == 0) return;
  state.PlaceOperands();
  state.ChooseTile();
  state.FindInvariants();
  for (size_t i = 0; i < state.steps.size(); ++i) {
    const auto& operands = state.steps[i].operands;
    for (size_t k = 1; k < operands.size(); ++k) state.values[operands[k]].last_read = static_cast<int32_t>(i);
  }
  state.early = state.Schedule(false);
  state.late = state.Schedule(true);
}

bool TileProgram::is_row(ValueId value) const { return state_->values[value].row; }
int64_t TileProgram::tile() const { return state_->tile; }

}  // namespace dragon::kernels
