// Vector versions of mathematical functions on every glibc: those of 2.35 are looked up when the library is loaded, and
// on older machines each calls the scalar function for one number after the other.
//
// The names and the calling convention are those the compiler expects of a function declared `simd`: b, d and e are the
// registers of SSE, AVX2 and AVX-512, the number is how many elements they hold. A call is one indirect jump, as it is
// to a function of another library. libm.h, which declares the scalar functions `simd`, must not be read here: the
// loops below would become calls of themselves.
#if defined(__x86_64__) && !defined(__CUDACC__)
#include "core/kernels/libmvec.h"

#include <dlfcn.h>

#include <cmath>

namespace {

using f4 = float __attribute__((vector_size(16)));
using f8 = float __attribute__((vector_size(32)));
using f16 = float __attribute__((vector_size(64)));
using d2 = double __attribute__((vector_size(16)));
using d4 = double __attribute__((vector_size(32)));
using d8 = double __attribute__((vector_size(64)));

template <typename Vector, auto kScalar>
Vector EachOf1(Vector x) {
  for (unsigned i = 0; i < sizeof(x) / sizeof(x[0]); ++i) x[i] = kScalar(x[i]);
  return x;
}
template <typename Vector, auto kScalar>
Vector EachOf2(Vector x, Vector y) {
  for (unsigned i = 0; i < sizeof(x) / sizeof(x[0]); ++i) x[i] = kScalar(x[i], y[i]);
  return x;
}

// What a function named `symbol` jumps to, which is known before anything of this library runs.
#define DRAGON_DEFINE1(symbol, Vector, Scalar, name)                                           \
  Vector (*chosen##symbol)(Vector) = EachOf1<Vector, static_cast<Scalar (*)(Scalar)>(::name)>; \
  extern "C" __attribute__((visibility("hidden"))) Vector symbol(Vector x) { return chosen##symbol(x); }
#define DRAGON_DEFINE2(symbol, Vector, Scalar, name)                                                           \
  Vector (*chosen##symbol)(Vector, Vector) = EachOf2<Vector, static_cast<Scalar (*)(Scalar, Scalar)>(::name)>; \
  extern "C" __attribute__((visibility("hidden"))) Vector symbol(Vector x, Vector y) { return chosen##symbol(x, y); }
#define DRAGON_SSE1(Do, name) Do(_ZGVbN4v_##name##f, f4, float, name##f) Do(_ZGVbN2v_##name, d2, double, name)
#define DRAGON_SSE2(Do, name) Do(_ZGVbN4vv_##name##f, f4, float, name##f) Do(_ZGVbN2vv_##name, d2, double, name)
#ifdef __AVX2__
#define DRAGON_AVX1(Do, name) Do(_ZGVdN8v_##name##f, f8, float, name##f) Do(_ZGVdN4v_##name, d4, double, name)
#define DRAGON_AVX2(Do, name) Do(_ZGVdN8vv_##name##f, f8, float, name##f) Do(_ZGVdN4vv_##name, d4, double, name)
#else
#define DRAGON_AVX1(Do, name)
#define DRAGON_AVX2(Do, name)
#endif
#ifdef __AVX512F__
#define DRAGON_AVX512_1(Do, name) Do(_ZGVeN16v_##name##f, f16, float, name##f) Do(_ZGVeN8v_##name, d8, double, name)
#define DRAGON_AVX512_2(Do, name) Do(_ZGVeN16vv_##name##f, f16, float, name##f) Do(_ZGVeN8vv_##name, d8, double, name)
#else
#define DRAGON_AVX512_1(Do, name)
#define DRAGON_AVX512_2(Do, name)
#endif
#define DRAGON_EACH1(Do, name) DRAGON_SSE1(Do, name) DRAGON_AVX1(Do, name) DRAGON_AVX512_1(Do, name)
#define DRAGON_EACH2(Do, name) DRAGON_SSE2(Do, name) DRAGON_AVX2(Do, name) DRAGON_AVX512_2(Do, name)

#define DRAGON_FUNCTION1(name) DRAGON_EACH1(DRAGON_DEFINE1, name)
#define DRAGON_FUNCTION2(name) DRAGON_EACH2(DRAGON_DEFINE2, name)
DRAGON_VECTOR_LATER1(DRAGON_FUNCTION1)
DRAGON_VECTOR_LATER2(DRAGON_FUNCTION2)

/// Take glibc's function where this machine's has one.
template <typename Function>
void Choose(void* library, const char* symbol, Function*& chosen) {
  if (void* found = dlsym(library, symbol)) chosen = reinterpret_cast<Function*>(found);
}

__attribute__((constructor)) void ChooseAll() {
  void* library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);  // stays loaded: kernels call the older ones directly
  if (!library) return;
#define DRAGON_CHOOSE(symbol, Vector, Scalar, name) Choose(library, #symbol, chosen##symbol);
#define DRAGON_CHOOSE1(name) DRAGON_EACH1(DRAGON_CHOOSE, name)
#define DRAGON_CHOOSE2(name) DRAGON_EACH2(DRAGON_CHOOSE, name)
  DRAGON_VECTOR_LATER1(DRAGON_CHOOSE1)
  DRAGON_VECTOR_LATER2(DRAGON_CHOOSE2)
}

}  // namespace
#endif
