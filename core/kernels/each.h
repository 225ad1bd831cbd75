// Each: the door through which every portable pointwise kernel runs, on any device.
//
//   struct Square {
//     template <typename T>
//     DRAGON_FN T operator()(T x) const { return x * x; }
//   };
//   Each<T(T)>(ctx, Square{}, y, x);
//
// The signature names the types computed in; views stored in other dtypes (float16 for float, say) are converted by the
// block on their way, so 16-bit floats need no loop of their own. Shapes broadcast to the output's; strides may be any.
#pragma once

#include <type_traits>

#include "core/base/types.h"
#include "core/device/parallel.h"
#include "core/kernels/cost.h"
#include "core/kernels/kernel.h"
#include "core/kernels/plan.h"

#if defined(DRAGON_GPU)
#include "core/kernels/each_cuda.h"
#endif

namespace dragon::DRAGON_DEVICE {

/// The part of a path after core/kernels.
template <size_t kSize>
struct KernelFile {
  char text[kSize] = {};
  consteval explicit KernelFile(const char (&path)[kSize]) {
    size_t slashes = 0, first = kSize - 1;
    while (first > 0 && (slashes += path[first - 1] == '/') < 2) --first;
    for (size_t i = first; i < kSize; ++i) text[i - first] = path[i];
  }
};
static constexpr KernelFile kKernelFile(__BASE_FILE__);  // not inline: another one in each source

/// What the compiler calls a functor: the only name that a type has in a program.
template <typename F>
constexpr const char* TextOf() {
  return __PRETTY_FUNCTION__;
}

template <typename Signature>
struct EachOf;

template <typename R, typename... A>
struct EachOf<R(A...)> {
  static constexpr DType kDTypes[] = {kDTypeOf<R>, kDTypeOf<A>...};

  /// The one loop compiled per functor and type: contiguous, and in place where y is one of the inputs.
  template <typename F, size_t... kIndex>
  static void Run(const void* functor, int64_t n, void* const* data, std::index_sequence<kIndex...>) {
    Loop(*static_cast<const F*>(functor), n, static_cast<R*>(data[0]), static_cast<const A*>(data[1 + kIndex])...);
  }
  template <typename F>
  static void Loop(const F f, int64_t n, R* y, const A*... x) {
    if constexpr (requires { f.Block(n, y, x...); }) {
      f.Block(n, y, x...);  // a functor may know a better loop than the obvious one
    } else {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]...);
    }
  }
  template <typename F>
  static void Thunk(const void* functor, int64_t n, void* const* data) {
    Run<F>(functor, n, data, std::index_sequence_for<A...>{});
  }
};

/// y = f(x...) element by element. `Signature` is R(A...): the types that f returns and takes.
template <typename Signature, typename F, typename... Views>
void Each([[maybe_unused]] const Context& ctx, const F& f, const View& y, const Views&... x) {
#if defined(DRAGON_GPU)
  LaunchOf<Signature>::Run(ctx, f, y, x...);
#else
  using Of = EachOf<Signature>;
  static_assert(std::size(Of::kDTypes) == 1 + sizeof...(Views));
  static constexpr kernels::FunctorSource kSource{kKernelFile.text, TextOf<F>()};
  static constexpr kernels::Loop kLoop{&Of::template Thunk<F>,
                                       Of::kDTypes,
                                       1 + sizeof...(Views),
                                       1,
                                       CostOf<F>(),
                                       MayBeKept<F>() ? static_cast<int32_t>(sizeof(F)) : 0,
                                       &kSource};
  const View* const views[] = {&y, &x...};
  kernels::RunEach(kLoop, &f, views);
#endif
}

/// f(i) from `begin` to `end`: compiled once, and with a functor that nothing it writes can be a part of.
template <typename F>
__attribute__((noinline)) void RunFor(const F f, int64_t begin, int64_t end) {
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) f(i);
}

/// f(i) for every i below n, in no order. `cost` counts additions per call.
template <typename F>
void ForEach([[maybe_unused]] const Context& ctx, int64_t n, int64_t cost, const F& f) {
#if defined(DRAGON_GPU)
  LaunchForEach(ctx, n, f);
#else
  ParallelFor(n, std::max<int64_t>(kGrain / std::max<int64_t>(cost, 1), 1),
              [&f](int64_t begin, int64_t end) { RunFor<F>(f, begin, end); });
#endif
}

}  // namespace dragon::DRAGON_DEVICE
