// Seeds and saved states. A state has the layout of PyTorch's, so that either framework continues the other's stream.
#include "core/framework/generator.h"

#include <atomic>
#include <cstring>
#include <random>
#include <utility>

#include "core/base/error.h"

namespace dragon {

namespace {

/// The saved form: words widened to 64 bits, and fields of older days that stay 0.
struct SavedState {
  uint64_t seed;
  int32_t left;    // draws until new words are made, plus one
  int32_t seeded;  // always 1
  uint64_t next;   // index of the next word
  uint64_t words[Mt19937::kSize];
  double unused_x;
  double spare_normal;
  double unused_rho;
  int32_t has_spare_normal;
  int32_t padding;
  float spare_float_normal;
  uint8_t has_spare_float_normal;
  uint8_t padding_end[3];
};
static_assert(sizeof(SavedState) == Generator::kStateBytes);

/// This thread's guards, innermost first.
thread_local GeneratorGuard::Scope* t_scope = nullptr;

/// While a graph is noted down that draws from a stream, only a seed that changes nothing may come.
void RefuseSeed(const RandomState& state, bool same) {
  if (!state.noted || same) return;
  throw RuntimeError("manual_seed")
      .Says("set_current_seed can be called during stream capture only if new seed is the same as the original seed.");
}
void RefuseState(const RandomState& state) {
  if (state.noted) throw RuntimeError("set_rng_state").Says("Cannot call set_state during CUDA graph capture.");
}

/// A counter that is made when first asked for.
DeviceCounter& CounterOf(RandomState* state, int index) {
  constexpr int kMost = 255;
  if (index < 0 || index > kMost) {
    throw ValueError("Generator").Got("device ", index).Expected("0 to ", kMost);
  }
  return state->devices.Of(index);
}

SavedState Saved(const RandomStream& stream) {
  SavedState saved{};
  saved.seed = stream.seed;
  saved.seeded = 1;
  // Words that were all drawn, or never made: the next draw makes new ones.
  const int position = stream.state.engine.position();
  saved.left = Mt19937::kSize + 1 - position;
  const Mt19937 untouched(stream.seed);
  const bool fresh = position == Mt19937::kSize &&
                     !std::memcmp(untouched.words(), stream.state.engine.words(), sizeof(uint32_t) * Mt19937::kSize);
  saved.next = fresh ? 0 : static_cast<uint64_t>(position);
  std::copy_n(stream.state.engine.words(), Mt19937::kSize, saved.words);
  saved.has_spare_normal = stream.state.has_spare_normal;
  saved.spare_normal = stream.state.has_spare_normal ? stream.state.spare_normal : 0;
  return saved;
}

SavedState Parsed(std::span<const uint8_t> state) {
  SavedState saved;
  std::memcpy(&saved, state.data(), sizeof(saved));
  if (saved.seeded != 1 || saved.left < 1 || saved.left > Mt19937::kSize || saved.next > Mt19937::kSize) {
    throw ValueError("set_rng_state")
        .Got("bytes that are no generator's state")
        .Expected("what get_rng_state returned");
  }
  return saved;
}

void Resume(RandomStream* stream, const SavedState& saved) {
  std::copy_n(saved.words, Mt19937::kSize, stream->state.engine.words());
  stream->state.engine.set_position(saved.left == 1 ? Mt19937::kSize : static_cast<int>(saved.next));
  stream->state.has_spare_normal = saved.has_spare_normal != 0;
  stream->state.spare_normal = saved.spare_normal;
  stream->seed = saved.seed;
}

}  // namespace

void Generator::Seed(uint64_t seed) {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  RefuseSeed(stream_->state, stream_->seed == seed);
  stream_->state.engine.Seed(seed);
  stream_->state.devices.Seed(seed);
  stream_->state.has_spare_normal = false;
  stream_->seed = seed;
}

uint64_t Generator::SeedFromSystem() {
  std::random_device device;
  // 53 bits: every frontend can hold the number exactly.
  const uint64_t seed = ((static_cast<uint64_t>(device()) << 32) | device()) & ((uint64_t{1} << 53) - 1);
  Seed(seed);
  return seed;
}

uint64_t Generator::initial_seed() const {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  return stream_->seed;
}

std::vector<uint8_t> Generator::State() const {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  const SavedState saved = Saved(*stream_);
  std::vector<uint8_t> bytes(kStateBytes);
  std::memcpy(bytes.data(), &saved, kStateBytes);
  return bytes;
}

void Generator::SetState(std::span<const uint8_t> state) {
  if (state.size() != kStateBytes) {
    throw ValueError("set_rng_state").Got(state.size(), " bytes").Expected(kStateBytes);
  }
  const SavedState saved = Parsed(state);
  std::lock_guard<std::mutex> lock(stream_->mutex);
  RefuseState(stream_->state);
  Resume(stream_.get(), saved);
}

std::vector<uint8_t> Generator::WholeState() const {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  const SavedState saved = Saved(*stream_);
  const DeviceCounters& devices = stream_->state.devices;
  const uint64_t seed = devices.seed();
  const size_t counters = devices.known().size() * sizeof(DeviceCounter);
  std::vector<uint8_t> bytes(kStateBytes + sizeof(seed) + counters);
  std::memcpy(bytes.data(), &saved, kStateBytes);
  std::memcpy(bytes.data() + kStateBytes, &seed, sizeof(seed));
  if (counters) std::memcpy(bytes.data() + kStateBytes + sizeof(seed), devices.known().data(), counters);
  return bytes;
}

void Generator::SetWholeState(std::span<const uint8_t> state) {
  uint64_t seed;
  constexpr size_t kHead = kStateBytes + sizeof(seed);
  const bool plain = state.size() == kStateBytes;  // of a time when devices had no states: their streams begin anew
  if (!plain && (state.size() < kHead || (state.size() - kHead) % sizeof(DeviceCounter) != 0)) {
    throw ValueError("set_rng_state").Got(state.size(), " bytes").Expected("what get_rng_state returned");
  }
  const SavedState saved = Parsed(state);
  seed = saved.seed;
  if (!plain) std::memcpy(&seed, state.data() + kStateBytes, sizeof(seed));
  DeviceCounters devices(seed);
  for (size_t at = kHead; at < state.size(); at += sizeof(DeviceCounter)) {
    std::memcpy(&devices.Of(static_cast<int>((at - kHead) / sizeof(DeviceCounter))), state.data() + at,
                sizeof(DeviceCounter));
  }
  std::lock_guard<std::mutex> lock(stream_->mutex);
  RefuseState(stream_->state);
  Resume(stream_.get(), saved);
  stream_->state.devices = std::move(devices);
}

void Generator::SeedDevice(int index, uint64_t seed) {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  DeviceCounter& counter = CounterOf(&stream_->state, index);
  RefuseSeed(stream_->state, counter.seed == seed);
  counter = {seed, 0};
}

void Generator::SeedDevices(uint64_t seed) {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  RefuseSeed(stream_->state, stream_->state.devices.seed() == seed);
  stream_->state.devices.Seed(seed);
}

DeviceCounter Generator::DeviceCounterOf(int index) const {
  std::lock_guard<std::mutex> lock(stream_->mutex);
  return CounterOf(&stream_->state, index);
}

void Generator::SetDeviceCounter(int index, DeviceCounter counter) {
  if (counter.offset % 4 != 0) {
    throw RuntimeError("set_offset").Says("offset must be a multiple of 4").Got(counter.offset);
  }
  std::lock_guard<std::mutex> lock(stream_->mutex);
  RefuseState(stream_->state);
  CounterOf(&stream_->state, index) = counter;
}

Ref<Generator> Generator::Clone() const {
  Ref<Generator> copy(new Generator);
  std::lock_guard<std::mutex> lock(stream_->mutex);
  copy->stream_->state = stream_->state;
  copy->stream_->state.noted = nullptr;
  copy->stream_->seed = stream_->seed;
  return copy;
}

const Ref<Generator>& DefaultGenerator() {
  static const auto* generator = [] {
    auto* made = new Ref<Generator>(new Generator);
    (*made)->SeedFromSystem();
    return made;
  }();
  return *generator;
}

struct GeneratorGuard::Scope {
  Ref<Generator> generator;
  Scope* outer;
  std::atomic<bool> ended{false};
};

Generator& CurrentGenerator() {
  while (t_scope && DRAGON_UNLIKELY(t_scope->ended.load(std::memory_order_acquire))) {
    delete std::exchange(t_scope, t_scope->outer);
  }
  return t_scope ? *t_scope->generator : *DefaultGenerator();
}

GeneratorGuard::GeneratorGuard(Ref<Generator> generator) : scope_(new Scope{std::move(generator), t_scope}) {
  t_scope = scope_;
}

// One that goes before a later one, or on another thread, stays in its thread's list until it is the innermost there.
GeneratorGuard::~GeneratorGuard() {
  const bool innermost = t_scope == scope_;
  scope_->ended.store(true, std::memory_order_release);
  if (innermost) CurrentGenerator();
}

Generator& GeneratorOf(const char* who, const Value& attr) {
  if (attr.is_none()) return CurrentGenerator();
  if (auto* generator = dynamic_cast<Generator*>(attr.object())) return *generator;
  throw TypeError(who).Got("a generator argument of another class").Expected("a Generator");
}

}  // namespace dragon
