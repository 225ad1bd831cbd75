// Random state with identity: what a seed sets, what operators draw from, what a checkpoint saves.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/base/mt19937.h"
#include "core/framework/value.h"

namespace dragon {

/// A generator's numbers: several generators may draw from one stream, and a graph keeps the streams that it draws
/// from.
struct RandomStream {
  mutable std::mutex mutex;
  RandomState state;
  uint64_t seed = 0;
};

/// A stream of random numbers. Equal seeds give equal streams: those of PyTorch's generators, of which it is the CPU's
/// and every CUDA device's at once. What is told to be a device's concerns no other one, nor the CPU.
class DRAGON_API Generator : public Object {
 public:
  /// The bytes of a saved state: those of `torch.get_rng_state()`.
  static constexpr size_t kStateBytes = 5056;
  /// The bytes of a device's saved state, those of `torch.cuda.get_rng_state()`: its seed and its offset.
  static constexpr size_t kDeviceStateBytes = 16;

  explicit Generator(uint64_t seed = kDefaultSeed) { Seed(seed); }

  /// Start the stream anew, the devices' as well.
  void Seed(uint64_t seed);
  /// Seed with a number nobody can foresee, and return it.
  uint64_t SeedFromSystem();
  uint64_t initial_seed() const;
  std::vector<uint8_t> State() const;
  /// Continue from a saved state; a ValueError if it is none.
  void SetState(std::span<const uint8_t> state);
  /// The state with those of the devices, for those who have everything drawn again.
  std::vector<uint8_t> WholeState() const;
  void SetWholeState(std::span<const uint8_t> state);

  void SeedDevice(int index, uint64_t seed);
  /// Start the streams of all devices anew.
  void SeedDevices(uint64_t seed);
  DeviceCounter DeviceCounterOf(int index) const;
  /// Continue there; a RuntimeError if no block of four words begins at its offset.
  void SetDeviceCounter(int index, DeviceCounter counter);
  /// A generator of its own that goes on as this one would.
  Ref<Generator> Clone() const;

  /// What the numbers come from, which may be another generator's from now on: graphs that draw from a stream go on
  /// doing so.
  const std::shared_ptr<RandomStream>& stream() const { return stream_; }
  void SetStream(std::shared_ptr<RandomStream> stream) { stream_ = std::move(stream); }

  /// Draw while holding the lock: `generator.Draw([&](RandomState* state) { ... })`.
  template <typename F>
  void Draw(F&& body) {
    std::lock_guard<std::mutex> lock(stream_->mutex);
    body(&stream_->state);
  }

 private:
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  std::shared_ptr<RandomStream> stream_ = std::make_shared<RandomStream>();
};

/// The generator that operators use when they are given none: this thread's innermost GeneratorGuard, else the
/// process's own.
DRAGON_API Generator& CurrentGenerator();
/// The process's own generator. Its stream differs from run to run until it is seeded.
DRAGON_API const Ref<Generator>& DefaultGenerator();

/// Makes a generator current for a scope (a workspace, say).
class DRAGON_API GeneratorGuard {
 public:
  explicit GeneratorGuard(Ref<Generator> generator);
  ~GeneratorGuard();
  GeneratorGuard(const GeneratorGuard&) = delete;
  GeneratorGuard& operator=(const GeneratorGuard&) = delete;

  struct Scope;

 private:
  Scope* scope_;
};

/// The generator an operator's attribute holds, or the current one if it is None.
DRAGON_API Generator& GeneratorOf(const char* who, const Value& attr);

}  // namespace dragon
