// BLAS and LAPACK, by name, from OpenBLAS: loaded at the first call, because loading starts threads and costs time.
//
//   int info = 0;
//   Lapack<T, "potrf">('L', n, a, n, &info);      // s, d, c or z is prefixed for T; scalars may be given by value
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "core/base/macros.h"
#include "core/base/types.h"

namespace dragon {

/// The address of an OpenBLAS routine such as "dgemm_" or "cblas_dgemm"; a RuntimeError when there is none. The library
/// is looked for beside libdragon, then at DRAGON_OPENBLAS (a path to the file), then where the build found it.
DRAGON_API void* OpenBlasSymbol(const char* name);

/// How many threads the next calls may use; 1 in parallel regions and in forked children, whatever is asked.
/// The setting is global to OpenBLAS: a race between two callers costs speed, never the result.
DRAGON_API void SetOpenBlasThreads(int count);

/// A caller's place in OpenBLAS, which has buffers for everyone who is in it at a time, and ends the process where it
/// gets none: where there is no memory for one more, the caller waits until another one leaves.
class DRAGON_API BlasSeat {
 public:
  BlasSeat();
  ~BlasSeat();
  BlasSeat(const BlasSeat&) = delete;
  BlasSeat& operator=(const BlasSeat&) = delete;
};

/// A string as a template argument.
template <size_t kSize>
struct FixedString {
  char text[kSize];
  constexpr FixedString(const char (&value)[kSize]) { std::copy_n(value, kSize, text); }  // NOLINT: that is the point
};

namespace openblas {

template <typename T>
inline constexpr char kPrefix = std::is_same_v<T, float>       ? 's'
                                : std::is_same_v<T, double>    ? 'd'
                                : std::is_same_v<T, complex64> ? 'c'
                                                               : 'z';

/// "getrf" -> "dgetrf_"
template <typename T, FixedString kName>
struct Symbol {
  char text[sizeof(kName.text) + 2] = {};
  constexpr Symbol() {
    text[0] = kPrefix<T>;
    for (size_t i = 0; i + 1 < sizeof(kName.text); ++i) text[i + 1] = kName.text[i];
    text[sizeof(kName.text)] = '_';
  }
};

/// Fortran takes everything by address; a value parameter lives long enough for that.
template <typename A>
auto Address(A& argument) {
  if constexpr (std::is_pointer_v<A>) {
    return argument;
  } else {
    static_assert(!std::is_same_v<A, int64_t>, "LAPACK's integers are 32 bits here");
    return &argument;
  }
}

}  // namespace openblas

/// Call a Fortran routine whose name is the type's letter and `kName`. Each `char` given by value is a string of one
/// letter, whose hidden length follows the arguments (the Fortran compiler's convention).
template <typename T, FixedString kName, typename... Args>
void Lapack(Args... args) {
  static void* const routine = OpenBlasSymbol(openblas::Symbol<T, kName>{}.text);
  constexpr size_t kLetters = (size_t{0} + ... + size_t{std::is_same_v<Args, char>});
  [&]<size_t... kLetter>(std::index_sequence<kLetter...>) {
    using Routine = void (*)(decltype(openblas::Address(args))..., decltype(kLetter)...);
    reinterpret_cast<Routine>(routine)(openblas::Address(args)..., (static_cast<void>(kLetter), size_t{1})...);
  }(std::make_index_sequence<kLetters>{});
}

}  // namespace dragon
