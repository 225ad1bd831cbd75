// The machine itself: how fast memory and the multiply-add units are with the threads that the engines get.
// Prints {"bandwidth": bytes/s, "flops": float32 operations/s}, the best of several passes.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

constexpr long kCount = 10'000'000;

/// a = b + s * c over arrays that no cache holds; three streams count, as in STREAM.
double TriadBandwidth(double seconds) {
  std::vector<float> a(kCount), b(kCount, 1.0f), c(kCount, 2.0f);
  double best = 1e9;
  for (const double start = Now(); Now() - start < seconds;) {
    const double begin = Now();
    float *x = a.data(), *y = b.data(), *z = c.data();
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < kCount; ++i) x[i] = y[i] + 3.0f * z[i];
    best = std::min(best, Now() - begin);
  }
  return 3.0 * sizeof(float) * kCount / best;
}

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#else
constexpr int kVectorBytes = 32;
#endif
typedef float Vector __attribute__((vector_size(kVectorBytes)));

/// Twelve independent chains per thread: latency times throughput of the units, and they fit into sixteen registers.
double PeakFlops(double seconds) {
  constexpr int kChains = 12;
  constexpr long kSteps = 200'000;
  double best = 1e9;
  std::vector<float> sink(omp_get_max_threads());
  for (const double start = Now(); Now() - start < seconds;) {
    const double begin = Now();
#pragma omp parallel
    {
      Vector chains[kChains];
      for (int j = 0; j < kChains; ++j) chains[j] = Vector{} + static_cast<float>(j);
      const Vector scale = Vector{} + 0.999f, shift = Vector{} + 0.001f;
      for (long i = 0; i < kSteps; ++i) {
#pragma GCC unroll 12
        for (int j = 0; j < kChains; ++j) chains[j] = chains[j] * scale + shift;
      }
      float total = 0;
      for (int j = 0; j < kChains; ++j) total += chains[j][0];
      sink[omp_get_thread_num()] = total;  // else the compiler would drop the loop
    }
    best = std::min(best, Now() - begin);
  }
  return 2.0 * (kVectorBytes / sizeof(float)) * kChains * kSteps * omp_get_max_threads() / best;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.2;
  const double bandwidth = TriadBandwidth(seconds), flops = PeakFlops(seconds);
  std::printf("{\"bandwidth\": %.4g, \"flops\": %.4g}\n", bandwidth, flops);
}
