// What becomes of one pixel's colours: what both devices share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/kernels/exponent.h"
#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE::colours {

/// The largest number of bytes and of floats.
template <typename T>
DRAGON_FN constexpr float White() {
  return std::is_same_v<T, uint8_t> ? 255.0f : 1.0f;
}

/// Without its fraction where it becomes a byte: by way of whole numbers, for which there are vectors.
template <typename T>
DRAGON_FN T Cut(float value) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return static_cast<uint8_t>(static_cast<int32_t>(value));
  } else {
    return value;
  }
}

/// How light a pixel is: whole for bytes. Products are added up as PyTorch does, each rounded once.
template <typename T>
DRAGON_FN float GreyOf(T r, T g, T b) {
  const float part = libm::MultiplyAdd(static_cast<float>(g), 0.587f, static_cast<float>(r) * 0.2989f);
  const float grey = libm::MultiplyAdd(static_cast<float>(b), 0.114f, part);
  return std::is_same_v<T, uint8_t> ? std::floor(grey) : grey;
}

/// ratio * value + rest, within black and white; no number stays none.
template <typename T>
DRAGON_FN T Mixed(float product, float rest_share, float other) {
  const float mixed = libm::MultiplyAdd(other, rest_share, product);
  return Cut<T>(std::min(std::max(mixed, 0.0f), White<T>()));
}

/// What is left of x beside the last whole number below it.
DRAGON_FN float Fraction(float x) { return x - std::floor(x); }

/// Red, green and blue between 0 and 1, the hue turned by a share of the circle. No branches: all is selected.
struct TurnedPixel {
  float r, g, b;

  DRAGON_FN TurnedPixel(float red, float green, float blue, float turn) {
    const float high = std::max(std::max(red, green), blue), low = std::min(std::min(red, green), blue);
    const bool grey = high == low;
    const float span = high - low, divisor = grey ? 1.0f : span;
    const float rc = (high - red) / divisor, gc = (high - green) / divisor, bc = (high - blue) / divisor;
    const float of_red = bc - gc, of_green = rc + 2.0f - bc, of_blue = gc + 4.0f - rc;
    const float not_red = high == green ? of_green : of_blue;
    const float hue = Fraction((high == red ? of_red : not_red) * (1.0f / 6.0f) + 1.0f);
    const float saturation = span / (grey ? 1.0f : high);
    Select(Fraction(hue + turn) * 6.0f, saturation, high);
    const bool none = red != red || green != green || blue != blue;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    r = none ? nan : r, g = none ? nan : g, b = none ? nan : b;
  }

 private:
  static DRAGON_FN float Kept(float value) { return std::min(std::max(value, 0.0f), 1.0f); }
  DRAGON_FN void Select(float place, float saturation, float v) {
    const float sector = std::floor(place), part = saturation * (place - sector), rest = 1.0f - saturation;
    const float p = Kept(rest * v), q = Kept((1.0f - part) * v), t = Kept((part + rest) * v);
    const bool first = sector == 0.0f || sector == 6.0f, second = sector == 1.0f, third = sector == 2.0f;
    const bool fourth = sector == 3.0f, last = sector == 5.0f;  // what is no number counts as the fifth
    r = first || last ? v : second ? q : third || fourth ? p : t;
    g = first ? t : second || third ? v : fourth ? q : p;
    b = first || second ? p : third ? t : last ? q : v;
  }
};

}  // namespace dragon::DRAGON_DEVICE::colours
