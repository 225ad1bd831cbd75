// Real random numbers on CUDA: every one by a formula of one or two uniform numbers.
#include <limits>

#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename W>
struct UniformNumber {
  W from, range;
  __device__ __forceinline__ W operator()(W u) const { return std::fma(u, range, from); }
};

/// Numbers in (low, high], of which those that round to the end become the beginning.
template <typename T>
struct UniformNumbers {
  using W = DrawnIn<T>;
  static constexpr int kNumbers = kDrawn<W>;
  UniformNumber<W> f;
  W end;
  T first;

  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const T number = Cast<T>(f(Units<W>::From(words, i)));
      numbers[i] = Cast<W>(number) == end ? first : number;
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
      numbers[i] = Cast<T>(kExponential ? FastExp(number) : number);
    }
  }
};

template <typename W>
struct ExponentialNumber {
  W rate;
  __device__ W operator()(W u) const {
    // Never 0: others divide by it.
    constexpr W kLeast = std::numeric_limits<W>::epsilon() / 2;
    return W(-1) / rate * (u >= 1 - kLeast ? -kLeast : FastLog(u));
  }
};

template <typename W>
struct CauchyNumber {
  W median, sigma;
  __device__ W operator()(W u) const {
    // The tangent's poles lie at both ends, which the fast one reaches.
    constexpr W kEdge = std::numeric_limits<W>::epsilon();
    if constexpr (sizeof(W) == 4) u = u < kEdge ? kEdge : u > 1 - kEdge ? 1 - kEdge : u;
    return std::fma(sigma, FastTan(static_cast<W>(std::numbers::pi) * (u - W(0.5))), median);
  }
};

template <typename W>
struct GeometricNumber {
  W p;
  __device__ W operator()(W u) const {
    W failure;
    if constexpr (sizeof(W) == 4) {
      failure = FastLog(1 - p);
    } else {
      failure = std::log1p(-p);
    }
    return std::ceil(FastLog(u) / failure);
  }
};

}  // namespace

template <typename T>
void Uniform(Context& ctx, View y, RandomState* state, double low, double high) {
  using W = DrawnIn<T>;
  const T first = Cast<T>(static_cast<W>(low)), last = Cast<T>(static_cast<W>(high));
  const W from = Cast<W>(first), end = Cast<W>(last), range = Cast<W>(Cast<T>(end - from));
  Draw<T>("uniform", ctx, y, state, UniformNumbers<T>{{from, range}, end, first});
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
  const ExponentialNumber<W> f{static_cast<W>(rate)};
  Draw<T>("exponential", ctx, y, state, OneByOne<T, ExponentialNumber<W>>{f});
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
  const GeometricNumber<W> f{static_cast<W>(p)};
  Draw<T>("geometric", ctx, y, state, OneByOne<T, GeometricNumber<W>>{f});
}
DRAGON_KERNEL(Geometric, Real);

}  // namespace dragon::DRAGON_DEVICE
