// Registers of a tile program: few of them, reused as soon as nobody reads them, so that they stay in the cache.
#include <algorithm>

#include "core/kernels/tile_state.h"

namespace dragon::kernels {

namespace {

using Location = TileSchedule::Location;

/// Gives out pieces of one block of memory; those that are given back are given out again first.
class Registers {
 public:
  /// `kept`: for good, so nothing that was or will be in use in every tile.
  int64_t Take(int64_t bytes, int64_t item, bool kept) {
    auto& free = free_[{bytes, item}];
    if (!kept && !free.empty()) {
      const int64_t at = free.back();
      free.pop_back();
      return at;
    }
    total_ += bytes;
    return total_ - bytes;
  }
  void GiveBack(int64_t bytes, int64_t item, int64_t at) { free_[{bytes, item}].push_back(at); }
  int64_t total() const { return total_; }

 private:
  /// By bytes and by the size of an element: a loop writes over what it reads only where elements lie at equal places.
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> free_;
  int64_t total_ = 0;
};

}  // namespace

/// Orders loads, steps and stores, and says where values lie.
class TileScheduler {
 public:
  TileScheduler(const std::vector<TileValue>& values, const std::vector<TileStep>& steps,
                const std::vector<TilePlace>& input_places, const std::vector<TilePlace>& output_places,
                const std::vector<int32_t>& output_values, int64_t tile, int64_t row, bool stores_late)
      : values_(values),
        steps_(steps),
        input_places_(input_places),
        output_places_(output_places),
        output_values_(output_values),
        tile_(tile),
        row_(row),
        stores_late_(stores_late) {
    schedule_.locations.resize(values.size());
    stores_.resize(values.size());
  }

  TileSchedule Run(const std::vector<char>& streams) {
    PlaceOutputs(streams);
    for (size_t i = 0; i < steps_.size(); ++i) Emit(static_cast<int32_t>(i));
    for (size_t k = 0; k < output_values_.size(); ++k) {
      const int32_t value = output_values_[k];
      if (values_[value].input < 0 && !stores_late_) continue;
      Load(value);
      if (schedule_.locations[value].kind != Location::Kind::kOutput) Store(static_cast<int32_t>(k));
    }
    schedule_.register_bytes = registers_.total();
    return std::move(schedule_);
  }

 private:
  /// An output is made where it belongs, unless that is not straight, not allowed yet or better done past the caches.
  void PlaceOutputs(const std::vector<char>& streams) {
    for (size_t k = 0; k < output_values_.size(); ++k) {
      const int32_t value = output_values_[k];
      Location& location = schedule_.locations[value];
      const bool straight = output_places_[k].direct && !streams[k] && !stores_late_;
      if (straight && values_[value].input < 0 && !values_[value].invariant &&
          location.kind == Location::Kind::kNowhere) {
        location = {Location::Kind::kOutput, static_cast<int64_t>(k)};
      } else if (values_[value].input < 0) {
        stores_[value].push_back(static_cast<int32_t>(k));
      }
    }
  }

  int64_t Bytes(int32_t value) const {
    const int64_t bytes = (values_[value].row ? tile_ / row_ : tile_) * ItemSize(values_[value].dtype);
    return (bytes + 63) / 64 * 64;
  }
  void Take(int32_t value) {
    Location& location = schedule_.locations[value];
    if (location.kind == Location::Kind::kNowhere)
      location = {Location::Kind::kRegister,
                  registers_.Take(Bytes(value), ItemSize(values_[value].dtype), values_[value].invariant)};
  }
  void GiveBack(int32_t value) {
    const Location& location = schedule_.locations[value];
    const bool kept = values_[value].invariant || (stores_late_ && !stores_[value].empty());
    if (location.kind == Location::Kind::kRegister && !kept)
      registers_.GiveBack(Bytes(value), ItemSize(values_[value].dtype), location.at);
  }
  std::vector<TileStep>& ListFor(int32_t value) { return values_[value].invariant ? schedule_.once : schedule_.steps; }

  void Load(int32_t value) {
    Location& location = schedule_.locations[value];
    const int32_t input = values_[value].input;
    if (input < 0 || location.kind != Location::Kind::kNowhere) return;
    if (input_places_[input].direct) {
      location = {Location::Kind::kInput, input};
      return;
    }
    Take(value);
    TileStep step{TileStep::Kind::kLoad, values_[value].row};
    step.external = input;
    step.operands = {value};
    ListFor(value).push_back(std::move(step));
  }

  void Store(int32_t output) {
    const int32_t value = output_values_[output];
    TileStep step{TileStep::Kind::kStore, values_[value].row};
    step.external = output;
    step.operands = {value};
    schedule_.steps.push_back(std::move(step));
  }

  void Emit(int32_t i) {
    const TileStep& step = steps_[i];
    const int32_t made = step.operands[0];
    std::vector<int32_t> dying;
    for (size_t k = 1; k < step.operands.size(); ++k) {
      const int32_t value = step.operands[k];
      Load(value);
      if (values_[value].last_read == i && std::find(dying.begin(), dying.end(), value) == dying.end()) {
        dying.push_back(value);
      }
    }
    // A loop may write over what it reads; what changes the size or the count of elements may not.
    if (step.kind == TileStep::Kind::kLoop) {
      for (int32_t value : dying) GiveBack(value);
    }
    if (made >= 0) Take(made);
    if (step.kind != TileStep::Kind::kLoop) {
      for (int32_t value : dying) GiveBack(value);
    }
    if (made < 0) {
      schedule_.steps.push_back(step);
      return;
    }
    ListFor(made).push_back(step);
    if (!stores_late_) {
      for (int32_t output : stores_[made]) Store(output);
    }
    if (values_[made].last_read < 0) GiveBack(made);
  }

  const std::vector<TileValue>& values_;
  const std::vector<TileStep>& steps_;
  const std::vector<TilePlace>&input_places_, &output_places_;
  const std::vector<int32_t>& output_values_;
  const int64_t tile_, row_;
  const bool stores_late_;
  std::vector<std::vector<int32_t>> stores_;
  Registers registers_;
  TileSchedule schedule_;
};

TileSchedule TileProgram::State::Schedule(bool stores_late) const {
  std::vector<char> streams;
  for (size_t k = 0; k < outputs.size(); ++k) streams.push_back(Streams(static_cast<int>(k)));
  return TileScheduler(values, steps, input_places, output_places, output_values, tile, row, stores_late).Run(streams);
}

}  // namespace dragon::kernels
