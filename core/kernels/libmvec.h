// The functions that glibc has vector versions of, with one parameter and with two, by the release they came with.
#pragma once

// clang-format off: lists
#define DRAGON_VECTOR_FIRST1(F) F(exp) F(log) F(sin) F(cos)  // glibc 2.22
#define DRAGON_VECTOR_FIRST2(F) F(pow)
#define DRAGON_VECTOR_LATER1(F)  /* glibc 2.35 */                    \
  F(exp2) F(expm1) F(log2) F(log10) F(log1p) F(erf) F(erfc) F(cbrt)  \
  F(tan) F(asin) F(acos) F(atan)                                     \
  F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh)
#define DRAGON_VECTOR_LATER2(F) F(atan2) F(hypot)
// clang-format on
