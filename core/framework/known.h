// What is known while shapes are worked out and nothing is computed: few numbers made of sizes, and how many elements
// stand for "as many as numbers will say".
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/macros.h"
#include "core/framework/tensor.h"

namespace dragon {

/// Small results of operands whose numbers are there are computed for this thread, even where shapes alone are wanted
/// and a trace is at work: they are sizes of other tensors, as a rule, which shapes follow.
DRAGON_API bool& KnowsNumbers();

class KnowingNumbers {
 public:
  KnowingNumbers() : before_(std::exchange(KnowsNumbers(), true)) {}
  ~KnowingNumbers() { KnowsNumbers() = before_; }
  KnowingNumbers(const KnowingNumbers&) = delete;
  KnowingNumbers& operator=(const KnowingNumbers&) = delete;

 private:
  bool before_;
};

/// The upper half of a storage's mark says in which trace it was made, its lowest bit whether that was of a branch.
constexpr int kMarkBits = 32;

/// Which run that works out shapes this thread is in; 0 outside of any.
DRAGON_API uint32_t& PhantomRun();
/// The number of another run.
DRAGON_API uint32_t NextPhantomRun();
/// The tensor's numbers were made just now: a run that works out shapes may write to them, since nobody else has them.
DRAGON_API void NoteImagined(const Tensor& tensor);
/// Numbers of its own for a constant, where the run might write to the tensor that it is made of; else that tensor.
DRAGON_API Tensor CopyOfSizes(const Tensor& tensor);

/// A size that depends on numbers which are not there: what stands for it on this thread (-1: such calls are refused),
/// and whether it has been asked for.
struct UnknownSize {
  int64_t size = -1;
  bool asked = false;
};
DRAGON_API UnknownSize& SizeByNumbers();
/// The size, which has been asked for from now on.
inline int64_t AskSizeByNumbers() { return SizeByNumbers().asked = true, SizeByNumbers().size; }

}  // namespace dragon
