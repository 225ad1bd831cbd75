// Compare each vector function with the scalar one: prints how many there are, how many of their results are not the
// scalar function's own, and those that are too far off.
// With OLD_GLIBC, as on machines whose libmvec has none of them: results are the scalar function's own then.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>

#include "core/kernels/vector/libmvec.cc"  // NOLINT: what it defines is hidden

#ifdef OLD_GLIBC
extern "C" void* dlopen(const char*, int) noexcept { return nullptr; }
constexpr double kMost = 0;
#else
constexpr double kMost = 8;  // 4 ulp of the vector function, and what the scalar one is off
#endif

namespace {

int functions = 0, other = 0, wrong = 0;

template <typename T>
T Number(int i) {
  constexpr T kEdges[] = {T(0),
                          -T(0),
                          T(1),
                          T(-1),
                          T(0.5),
                          T(2),
                          T(1e-30),
                          T(1e30),
                          std::numeric_limits<T>::infinity(),
                          -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN(),
                          std::numeric_limits<T>::denorm_min(),
                          std::numeric_limits<T>::max()};
  constexpr int kCount = sizeof(kEdges) / sizeof(kEdges[0]);
  return i < kCount ? kEdges[i] : static_cast<T>((static_cast<double>(i * 2654435761u % 1000003u) / 500000 - 1) * 9);
}

template <typename T>
double Distance(T a, T b) {
  if (a != a || b != b) return (a != a) == (b != b) ? 0 : 1e9;
  if (a == b) return std::signbit(a) == std::signbit(b) ? 0 : 1e9;
  const T next = std::nextafter(std::fabs(b), std::numeric_limits<T>::infinity());
  return std::fabs(static_cast<double>(a) - b) / (static_cast<double>(next) - std::fabs(b));
}

template <typename T>
void Judge(const char* symbol, T x, T y, T got, T wanted) {
  const double distance = Distance(got, wanted);
  other += distance > 0;
  if (distance > kMost) {
    ++wrong;
    std::printf("%s(%.9g, %.9g): got %.17g, expected %.17g\n", symbol, double(x), double(y), double(got),
                double(wanted));
  }
}

template <typename T, typename Vector>
void Compare(const char* symbol, Vector (*vector)(Vector), T (*scalar)(T)) {
  ++functions;
  constexpr int kLanes = sizeof(Vector) / sizeof(T);
  for (int start = 0; start < 4096; start += kLanes) {
    Vector x;
    for (int i = 0; i < kLanes; ++i) x[i] = Number<T>(start + i);
    const Vector got = vector(x);
    for (int i = 0; i < kLanes; ++i) Judge(symbol, x[i], T(0), got[i], scalar(x[i]));
  }
}
template <typename T, typename Vector>
void Compare(const char* symbol, Vector (*vector)(Vector, Vector), T (*scalar)(T, T)) {
  ++functions;
  constexpr int kLanes = sizeof(Vector) / sizeof(T);
  for (int start = 0; start < 4096; start += kLanes) {
    Vector x, y;
    for (int i = 0; i < kLanes; ++i) x[i] = Number<T>(start + i), y[i] = Number<T>((start + i) * 7 % 4096);
    const Vector got = vector(x, y);
    for (int i = 0; i < kLanes; ++i) Judge(symbol, x[i], y[i], got[i], scalar(x[i], y[i]));
  }
}

}  // namespace

int main() {
#define COMPARE(symbol, Vector, Scalar, name) Compare<Scalar, Vector>(#symbol, symbol, ::name);
#define COMPARE1(name) DRAGON_EACH1(COMPARE, name)
#define COMPARE2(name) DRAGON_EACH2(COMPARE, name)
  DRAGON_VECTOR_LATER1(COMPARE1)
  DRAGON_VECTOR_LATER2(COMPARE2)
  std::printf("%d functions, %d others, %d wrong\n", functions, other, wrong);
  return wrong > 0;
}
