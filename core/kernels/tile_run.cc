// Running a tile program: tiles are shared among threads, and each goes through all steps while it is in the cache.
#include <algorithm>
#include <mutex>

#include "core/device/parallel.h"
#include "core/kernels/array.h"
#include "core/kernels/stream.h"
#include "core/kernels/tile_fold.h"
#include "core/kernels/tile_state.h"
#include "core/kernels/transfer.h"

namespace dragon::kernels {

namespace {

using Location = TileSchedule::Location;

/// Copy an operand into memory in the program's order.
Scratch Straighten(const TilePlace& place, void* data) {
  const int64_t numel = place.numel();
  Scratch memory(Device{}, static_cast<size_t>(numel * place.item));
  int64_t from[kMaxDims], to[kMaxDims];
  int64_t expected = 1;
  for (int axis = place.ndim - 1; axis >= 0; --axis) {
    from[axis] = place.strides[axis] / place.item;
    to[axis] = expected;
    expected *= place.shape[axis];
  }
  Context host;
  Copy(host, place.dtype, View{memory.data(), place.shape, to, numel, place.ndim, place.dtype},
       View{data, place.shape, from, numel, place.ndim, place.dtype});
  return memory;
}

/// The index of an element on a place's axes; returns its address.
char* Seek(const TilePlace& place, void* data, int64_t position, int64_t* index) {
  char* address = static_cast<char*>(data);
  for (int axis = place.ndim - 1; axis >= 0; --axis) {
    const int64_t outer = position / place.shape[axis];
    index[axis] = position - outer * place.shape[axis];
    address += index[axis] * place.strides[axis];
    position = outer;
  }
  return address;
}

/// One thread's way through its tiles.
class TileWorker {
 public:
  TileWorker(const TileSchedule& schedule, const std::vector<TileValue>& values,
             const std::vector<TilePlace>& input_places, const std::vector<TilePlace>& output_places,
             const std::vector<TileFold>& folds, int64_t row, void* const* outputs, void* const* inputs)
      : schedule_(schedule),
        values_(values),
        input_places_(input_places),
        output_places_(output_places),
        folds_(folds),
        row_(row),
        outputs_(outputs),
        inputs_(inputs),
        memory_(Device{}, static_cast<size_t>(schedule.register_bytes + 64)),
        at_(values.size()) {
    moving_.reserve(values.size());
    auto* registers = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.data()) + 63) / 64 * 64);
    for (const TileFold& fold : folds) parts_.emplace_back(fold);
    for (size_t value = 0; value < values.size(); ++value) {
      const Location& location = schedule.locations[value];
      if (location.kind == Location::Kind::kRegister) at_[value] = registers + location.at;
      if (location.kind == Location::Kind::kInput || location.kind == Location::Kind::kOutput) {
        moving_.push_back(static_cast<int32_t>(value));
        if (location.kind == Location::Kind::kInput && !values[value].row) fetched_.push_back(moving_.back());
      }
    }
  }

  void Run(int64_t begin, int64_t end, int64_t tile) {
    for (int64_t position = begin; position < end; position += tile) {
      position_ = position;
      count_ = std::min(tile, end - position);
      for (int32_t value : moving_) at_[value] = Address(value);
      if (position == begin) {
        for (const TileStep& step : schedule_.once) Do(step);
      }
      FetchAhead(position + count_, std::min(tile, end - position - count_));
    }
    if (streamed_) StreamEnd();
  }

  std::vector<TileParts>& parts() { return parts_; }

 private:
  /// Do the steps, and between them ask for the next tile's inputs, a share each: memory is read while we compute.
  void FetchAhead(int64_t next, int64_t count) {
    constexpr int64_t kLine = 64;
    const int64_t steps = static_cast<int64_t>(schedule_.steps.size());
    for (int64_t i = 0; i < steps; ++i) {
      for (int32_t value : fetched_) {
        const int64_t item = ItemSize(values_[value].dtype);
        const char* base = static_cast<const char*>(inputs_[schedule_.locations[value].at]) + next * item;
        const int64_t bytes = count * item, low = bytes * i / steps / kLine * kLine, high = bytes * (i + 1) / steps;
        for (int64_t at = low; at < high; at += kLine) __builtin_prefetch(base + at, 0, 3);
      }
      Do(schedule_.steps[i]);
    }
  }
  int64_t Count(bool is_row) const { return is_row ? count_ / row_ : count_; }
  int64_t Position(bool is_row) const { return is_row ? position_ / row_ : position_; }
  char* Address(int32_t value) const {
    const Location& location = schedule_.locations[value];
    void* base = location.kind == Location::Kind::kInput ? inputs_[location.at] : outputs_[location.at];
    return static_cast<char*>(base) + Position(values_[value].row) * ItemSize(values_[value].dtype);
  }

  void Do(const TileStep& step) {
    switch (step.kind) {
      case TileStep::Kind::kLoad:
        return Load(step);
      case TileStep::Kind::kStore:
        return Store(step);
      case TileStep::Kind::kExpand:
        return Expand(at_[step.operands[0]], at_[step.operands[1]], ItemSize(values_[step.operands[0]].dtype));
      case TileStep::Kind::kReduce:
        return Reduce(step);
      case TileStep::Kind::kFold: {
        TileParts& parts = parts_[step.external];
        FoldRows(folds_[step.external], at_[step.operands[1]], count_ / folds_[step.external].width, parts.Next());
        return parts.Added();
      }
      case TileStep::Kind::kConvert: {
        const int32_t to = step.operands[0], from = step.operands[1];
        return ConvertRun(at_[to], values_[to].dtype, at_[from], values_[from].dtype, Count(step.row));
      }
      case TileStep::Kind::kLoop:
        break;
    }
    void* data[kMaxOperands];
    for (size_t k = 0; k < step.operands.size(); ++k) data[k] = at_[step.operands[k]];
    step.loop.run(step.functor.get(), Count(step.row), data);
  }

  void Load(const TileStep& step) {
    const TilePlace& place = input_places_[step.external];
    char* to = at_[step.operands[0]];
    const int64_t n = Count(step.row);
    if (place.period == 1) return CopyRun(to, place.item, static_cast<char*>(inputs_[step.external]), 0, place.item, n);
    int64_t index[kMaxDims];
    char* from = Seek(place, inputs_[step.external], Position(step.row), index);
    Transfer<true>(place.ndim, place.shape, place.strides, index, place.item, from, to, n);
  }

  void Store(const TileStep& step) {
    const TilePlace& place = output_places_[step.external];
    char* from = at_[step.operands[0]];
    const int64_t n = Count(step.row), position = Position(step.row);
    if (!place.direct) {
      int64_t index[kMaxDims];
      char* to = Seek(place, outputs_[step.external], position, index);
      return Transfer<false>(place.ndim, place.shape, place.strides, index, place.item, to, from, n);
    }
    char* to = static_cast<char*>(outputs_[step.external]) + position * place.item;
    const bool streams = place.extent >= kStreamBytes && reinterpret_cast<uintptr_t>(to) % 16 == 0;
    if (!streams || reinterpret_cast<uintptr_t>(from) % 16 != 0) {
      std::memcpy(to, from, n * place.item);
      return;
    }
    StreamCopy(to, from, n * place.item);
    streamed_ = true;
  }

  void Expand(char* to, const char* from, int64_t size) const {
    for (int64_t i = 0; i < count_ / row_; ++i) CopyRun(to + i * row_ * size, size, from + i * size, 0, size, row_);
  }

  void Reduce(const TileStep& step) const {
    const int64_t rows = count_ / row_;
    const int64_t from_shape[] = {rows, row_}, from_strides[] = {row_, 1};
    const int64_t to_shape[] = {rows, 1}, to_strides[] = {1, 1};
    const int32_t to = step.operands[0], from = step.operands[1];
    Context host;
    (*step.reduction)(host, values_[from].dtype, View{at_[to], to_shape, to_strides, rows, 2, values_[to].dtype},
                      View{at_[from], from_shape, from_strides, count_, 2, values_[from].dtype});
  }

  const TileSchedule& schedule_;
  const std::vector<TileValue>& values_;
  const std::vector<TilePlace>&input_places_, &output_places_;
  const std::vector<TileFold>& folds_;
  const int64_t row_;
  void* const* outputs_;
  void* const* inputs_;
  Scratch memory_;
  std::vector<TileParts> parts_;
  std::vector<char*> at_;
  std::vector<int32_t> moving_;   ///< values that lie outside, tile after tile
  std::vector<int32_t> fetched_;  ///< inputs among them
  int64_t position_ = 0, count_ = 0;
  bool streamed_ = false;
};

/// What threads have of the folds, put together in the order of their tiles, so that results do not change by chance.
class FoldShares {
 public:
  explicit FoldShares(const std::vector<TileFold>& folds) : folds_(folds) {}

  void Add(int64_t begin, std::vector<TileParts>& parts) {
    std::vector<std::vector<char>> results;
    for (size_t k = 0; k < folds_.size(); ++k) {
      results.emplace_back(static_cast<size_t>(folds_[k].width * ItemSize(folds_[k].dtype)));
      parts[k].Finish(results.back().data());
    }
    std::lock_guard<std::mutex> lock(mutex_);
    shares_[begin] = std::move(results);
  }
  void Finish(int64_t numel, void* const* to) {
    for (size_t k = 0; k < folds_.size(); ++k) {
      const TileFold& fold = folds_[k];
      std::vector<char> all;
      for (const auto& [begin, share] : shares_) all.insert(all.end(), share[k].begin(), share[k].end());
      std::vector<char> wide(fold.result == fold.dtype ? 0 : static_cast<size_t>(fold.width * ItemSize(fold.dtype)));
      void* const total = wide.empty() ? to[k] : wide.data();
      FoldRows(fold, all.data(), static_cast<int64_t>(shares_.size()), total);
      if (fold.mean) Divide(fold, numel / fold.width, total);
      if (!wide.empty()) ConvertRun(to[k], fold.result, total, fold.dtype, fold.width);
    }
  }

 private:
  /// Divide a total by how many numbers it is of.
  static void Divide(const TileFold& fold, int64_t count, void* total) {
    static const Kernel<void(View y, View a, View b)> divide{"div"};
    const int64_t one = 1;
    double wide = static_cast<double>(count);
    float narrow = static_cast<float>(count);
    const View y{total, &fold.width, &one, fold.width, 1, fold.dtype};
    Context host;
    void* number = fold.dtype == DType::kFloat32 ? static_cast<void*>(&narrow) : &wide;
    divide(host, fold.dtype, y, y, View{number, nullptr, nullptr, 1, 0, fold.dtype});
  }

  const std::vector<TileFold>& folds_;
  std::mutex mutex_;
  std::map<int64_t, std::vector<std::vector<char>>> shares_;
};

}  // namespace

void TileProgram::Run(void* const* outputs, void* const* given) const {
  const State& state = *state_;
  if (state.numel == 0) return;
  std::vector<void*> inputs(given, given + state.inputs.size());
  // An output over an input is written tile by tile; where the input is read after that, the tile's outputs wait.
  const TileSchedule* schedule = &state.early;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const char* input = static_cast<const char*>(inputs[i]);
    for (size_t o = 0; o < state.outputs.size(); ++o) {
      const char* output = static_cast<const char*>(outputs[o]);
      const bool apart =
          input + state.input_places[i].extent <= output || output + state.output_places[o].extent <= input;
      if (apart) continue;
      const int32_t made_by = state.made_by[state.output_values[o]];
      if (state.values[state.input_values[i]].last_read > made_by) schedule = &state.late;
    }
  }
  std::vector<Scratch> straightened;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!state.input_places[i].straightened) continue;
    straightened.push_back(Straighten(state.input_places[i], inputs[i]));
    inputs[i] = straightened.back().data();
  }
  const int64_t tiles = (state.numel + state.tile - 1) / state.tile;
  const int64_t grain = std::max<int64_t>(1, kGrain / (state.tile * std::max<int64_t>(state.cost, 1)));
  FoldShares shares(state.folds);
  ParallelFor(tiles, grain, [&](int64_t begin, int64_t end) {
    TileWorker worker(*schedule, state.values, state.input_places, state.output_places, state.folds, state.row, outputs,
                      inputs.data());
    worker.Run(begin * state.tile, std::min(end * state.tile, state.numel), state.tile);
    if (!state.folds.empty()) shares.Add(begin, worker.parts());
  });
  if (!state.folds.empty()) shares.Finish(state.numel, outputs + state.outputs.size());
}

}  // namespace dragon::kernels
