// Real random numbers on CUDA: every one by a formula of one or two uniform numbers.
#include <limits>

#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
struct UniformNumbers {
  using W = DrawnIn<T>;
  static constexpr int kNumbers = kDrawn<W>;
  W from, range, end;
  T first;

  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const T number = Cast<T>(std::fma(Units<W>::From(words, i), range, from));
      // Rounding may reach the end, which is not part of the interval.
      numbers[i] = Cast<W>(number) < end ? number : first;
    }
  }
};

template <typename T, bool kExponential>
struct NormalNumbers {
  using W = DrawnIn<T>;
  static constexpr int kNumbers = kDrawn<W>;
  W mean, std;

  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
    W normals[kNumbers];
    Normals(words, normals);
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const W number = std::fma(normals[i], std, mean);
      numbers[i] = Cast<T>(kExponential ? std::exp(number) : number);
    }
  }
};

template <typename W>
struct ExponentialNumber {
  W rate, least;
  __device__ W operator()(W u) const {
    const W time = -std::log(u);
    return (time > least ? time : least) / rate;  // never 0: others divide by it
  }
};

template <typename W>
struct CauchyNumber {
  W median, sigma;
  __device__ W operator()(W u) const {
    // The tangent's poles lie at both ends of [0, 1).
    constexpr W kEdge = std::numeric_limits<W>::epsilon();
    const W place = u < kEdge ? kEdge : u > 1 - kEdge ? 1 - kEdge : u;
    return median + sigma * std::tan(static_cast<W>(std::numbers::pi) * (place - W(0.5)));
  }
};

template <typename W>
struct GeometricNumber {
  W log_failure;
  __device__ W operator()(W u) const {
    const W trials = std::ceil(std::log(u) / log_failure);
    return trials > 1 ? trials : W(1);
  }
};

}  // namespace

template <typename T>
void Uniform(Context& ctx, View y, RandomState* state, double low, double high) {
  using W = DrawnIn<T>;
  const W from = static_cast<W>(low), range = static_cast<W>(high) - from;
  const T first = Cast<T>(from);
  Draw<T>("uniform", ctx, y, state, UniformNumbers<T>{from, range, Cast<W>(Cast<T>(static_cast<W>(high))), first});
}
DRAGON_KERNEL(Uniform, Floating);

template <typename T>
void Normal(Context& ctx, View y, RandomState* state, double mean, double std, bool) {
  using W = DrawnIn<T>;
  Draw<T>("normal", ctx, y, state, NormalNumbers<T, false>{static_cast<W>(mean), static_cast<W>(std)});
}
DRAGON_KERNEL(Normal, Floating);

template <typename T>
void LogNormal(Context& ctx, View y, RandomState* state, double mean, double std) {
  using W = DrawnIn<T>;
  Draw<T>("log normal", ctx, y, state, NormalNumbers<T, true>{static_cast<W>(mean), static_cast<W>(std)});
}
DRAGON_KERNEL(LogNormal, Floating);

template <typename T>
void Exponential(Context& ctx, View y, RandomState* state, double rate) {
  using W = DrawnIn<T>;
  const ExponentialNumber<W> f{static_cast<W>(rate), std::numeric_limits<W>::epsilon() / 2};
  Draw<T>("exponential", ctx, y, state, OneByOne<T, ExponentialNumber<W>, true>{f});
}
DRAGON_KERNEL(Exponential, Floating);

template <typename T>
void Cauchy(Context& ctx, View y, RandomState* state, double median, double sigma) {
  using W = DrawnIn<T>;
  const CauchyNumber<W> f{static_cast<W>(median), static_cast<W>(sigma)};
  Draw<T>("cauchy", ctx, y, state, OneByOne<T, CauchyNumber<W>>{f});
}
DRAGON_KERNEL(Cauchy, Floating);

template <typename T>
void Geometric(Context& ctx, View y, RandomState* state, double p) {
  using W = DrawnIn<T>;
  const GeometricNumber<W> f{static_cast<W>(std::log1p(-p))};
  Draw<T>("geometric", ctx, y, state, OneByOne<T, GeometricNumber<W>, true>{f});
}
DRAGON_KERNEL(Geometric, Real);

}  // namespace dragon::DRAGON_DEVICE
