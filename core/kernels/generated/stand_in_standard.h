// What kernels use of the C++ library, for NVRTC, which has none. It is read under the names of the library's headers.
#ifndef DRAGON_STAND_IN_STANDARD
#define DRAGON_STAND_IN_STANDARD

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;

// As cuda_fp16.h has them.
struct __half {
  unsigned short bits;
};
__device__ inline __half __float2half_rn(float value) {
  __half half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
  return half;
}
__device__ inline float __half2float(__half half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half.bits));
  return value;
}
__device__ inline unsigned short __half_as_ushort(__half half) { return half.bits; }
__device__ inline __half __ushort_as_half(unsigned short bits) { return {bits}; }

// As cuda_bf16.h has them.
struct __nv_bfloat16 {
  unsigned short bits;
};
__device__ inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  __nv_bfloat16 half;
#if __CUDA_ARCH__ >= 900
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
#elif __CUDA_ARCH__ >= 800  // the older instruction makes two
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(value));
  half.bits = static_cast<unsigned short>(pair);
#else
  const unsigned word = __float_as_uint(value), rounded = (word + 0x7FFFu + ((word >> 16) & 1u)) >> 16;
  half.bits = static_cast<unsigned short>((word & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FFFu : rounded);
#endif
  return half;
}
__device__ inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 half) { return half.bits; }

namespace std {

using ::abs;
using ::fma;
using ::frexp;
using ::pow;
using ::size_t;

template <bool kWhich, typename A, typename B>
struct conditional {
  using type = A;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool kWhich, typename A, typename B>
using conditional_t = typename conditional<kWhich, A, B>::type;

template <typename A, typename B>
inline constexpr bool is_same_v = false;
template <typename A>
inline constexpr bool is_same_v<A, A> = true;
template <typename T, typename... Ts>
inline constexpr bool is_any_of_v = (is_same_v<T, Ts> || ...);
template <typename T>
inline constexpr bool is_integral_v = is_any_of_v<T, bool, char, signed char, unsigned char, short, unsigned short, int,
                                                  unsigned, long, unsigned long, long long, unsigned long long>;
template <typename T>
inline constexpr bool is_floating_point_v = is_any_of_v<T, float, double>;
template <typename T>
inline constexpr bool is_signed_v =
    is_floating_point_v<T> || is_any_of_v<T, char, signed char, short, int, long, long long>;
template <typename T>
inline constexpr bool is_unsigned_v = is_integral_v<T> && !is_signed_v<T>;
template <typename T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <typename T>
using make_unsigned_t =
    conditional_t<sizeof(T) == 1, uint8_t,
                  conditional_t<sizeof(T) == 2, uint16_t, conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <typename T>
class numeric_limits {
  static constexpr bool kSigned = is_signed_v<T>;
  static constexpr int kBits = 8 * sizeof(T);

 public:
  __host__ __device__ static constexpr T max() {
    return static_cast<T>(is_same_v<T, bool> ? 1 : ~uint64_t{0} >> (64 - kBits + (kSigned ? 1 : 0)));
  }
  __host__ __device__ static constexpr T lowest() { return kSigned ? static_cast<T>(-max() - 1) : T(0); }
};
template <>
class numeric_limits<float> {
 public:
  __host__ __device__ static constexpr float infinity() { return __builtin_bit_cast(float, 0x7F800000u); }
  __host__ __device__ static constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7FC00000u); }
};
template <>
class numeric_limits<double> {
 public:
  __host__ __device__ static constexpr double infinity() { return __builtin_bit_cast(double, 0x7FF0000000000000ul); }
  __host__ __device__ static constexpr double quiet_NaN() { return __builtin_bit_cast(double, 0x7FF8000000000000ul); }
};

template <typename To, typename From>
__host__ __device__ inline To bit_cast(const From& from) {
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

// Named where the host reads them, and used by nothing here.
template <typename T>
class complex;
class string {
 public:
  explicit string(const char*);
  const char* c_str() const;
  string operator+(const char*) const;
};
enum memory_order { memory_order_relaxed };
template <typename T>
class atomic {
 public:
  constexpr atomic(T value) : value_(value) {}
  operator T() const { return value_; }

 private:
  T value_;
};

}  // namespace std

#endif  // DRAGON_STAND_IN_STANDARD
