// What is known while shapes are worked out: which calls are computed all the same, and what they may write.
#include "core/framework/known.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/framework/known_call.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

/// Numbers that are computed even where only shapes are wanted: sizes of other tensors, as a rule, which shapes follow.
constexpr int64_t kMostSizes = int64_t{1} << 16;

/// Few enough to be among those, and there.
bool HasNumbers(const Tensor& x) {
  const Storage* storage = x.impl()->storage.get();
  return storage && x.numel() <= kMostSizes && storage->memory.state() != UnifiedMemory::State::kUninitialized;
}

/// The run that works out shapes has made these numbers.
bool IsImagined(const Tensor& x) {
  const Storage* storage = x.impl()->storage.get();
  return storage && storage->imagined && storage->imagined == PhantomRun();
}

/// What was made before a branch began is not written in it: the other branch must find it as it was.
bool IsOfThisBranch(const Tensor& x) { return x.impl()->storage->mark >> kMarkBits == Storage::Mark() >> kMarkBits; }

}  // namespace

bool& KnowsNumbers() {
  static thread_local bool knows = false;
  return knows;
}

UnknownSize& SizeByNumbers() {
  static thread_local UnknownSize unknown;
  return unknown;
}

uint32_t& PhantomRun() {
  static thread_local uint32_t run = 0;
  return run;
}

uint32_t NextPhantomRun() {
  static std::atomic<uint32_t> last{1};  // 1 is Python's True: no run's number
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void NoteImagined(const Tensor& tensor) {
  if (Door().phantom && tensor.impl()->storage) tensor.impl()->storage->imagined = PhantomRun();
}

Tensor CopyOfSizes(const Tensor& tensor) {
  if (!HasNumbers(tensor) || !tensor.device().is_cpu()) return tensor;
  const Tensor copy = Tensor::EmptyStrided(tensor.shape(), tensor.strides(), tensor.dtype(), tensor.device());
  if (tensor.numel()) std::memcpy(copy.mutable_data(), tensor.data(), tensor.numel() * tensor.item_size());
  return copy;
}

bool MakesNumbers(const Operator& op) { return !op.name().starts_with("empty"); }

bool IsKnown(const Call& call, std::span<const Tensor> outs, std::span<const OutputSpec> specs) {
  if ((Door().tracer && !KnowsNumbers()) || !MakesNumbers(*call.op)) return false;
  for (const Argument& argument : call.op->schema.arguments()) {
    if (argument.type == ArgumentType::kGenerator) return false;
  }
  for (const Tensor& x : call.inputs) {
    if (x.defined() && !HasNumbers(x)) return false;
  }
  bool may_write = true;
  EachWritten(call, outs, [&](const Tensor& x) { may_write &= HasNumbers(x) && IsImagined(x) && IsOfThisBranch(x); });
  return may_write && std::all_of(specs.begin(), specs.end(), [](const OutputSpec& spec) {
           return CheckedNumel("sizes", spec.shape, 1) <= kMostSizes;
         });
}

void ForgetWritten(const Call& call, std::span<const Tensor> outs) {
  EachWritten(call, outs, [](const Tensor& x) {
    if (IsImagined(x)) x.impl()->storage->memory.Forget();
  });
}

void NoteImagined(const Call& call, std::span<const Tensor> results) {
  for (const Tensor& y : results) {
    if (!y.defined() || !y.impl()->storage) continue;
    const bool given = std::any_of(call.inputs.begin(), call.inputs.end(), [&](const Tensor& x) {
      return x.defined() && x.impl()->storage == y.impl()->storage;
    });
    if (!given) NoteImagined(y);
  }
}

}  // namespace dragon
