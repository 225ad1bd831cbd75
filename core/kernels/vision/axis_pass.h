// One axis of images resized: the inner loops of resampling.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/kernels/vision/taps.h"

namespace dragon::DRAGON_DEVICE {

/// Four numbers that lie anywhere side by side.
template <typename W>
struct FourOf {
  typedef W Type __attribute__((vector_size(4 * sizeof(W)), aligned(sizeof(W)), may_alias));
};

/// One axis, seen as (outer, size, inner).
template <typename W>
struct AxisPass {
  using Element = W;                    ///< of the room that Run is given
  static constexpr int64_t kLong = 16;  ///< elements that lie side by side and are worth a loop of their own
  static constexpr int64_t kPiece = 256;

  Taps<W> taps;
  int64_t size, inner;
  bool copies = false;  ///< every result is one input: nothing is weighed

  int64_t rows() const { return taps.rows(); }
  /// The inputs [first, second) that results [begin, end) read.
  std::pair<int64_t, int64_t> Reach(int64_t begin, int64_t end) const {
    const auto from = taps.index.begin() + taps.begin[begin], to = taps.index.begin() + taps.begin[end];
    if (from == to) return {0, 0};
    const auto [low, high] = std::minmax_element(from, to);
    return {*low, *high + 1};
  }
  /// Results [begin, end) of one line, of which x holds the inputs from `shift` on.
  template <typename In, typename Out>
  __attribute__((noinline)) void RunPart(const In* x, int64_t shift, Out* y, int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i, y += inner) Row(x - shift * inner, y, i, inner);
  }
  /// All results of `outer` lines; `buffer` has room for BufferSize() numbers.
  template <typename In, typename Out>
  __attribute__((noinline)) void Run(const In* x, Out* y, int64_t outer, W* buffer) const {
    const int64_t in = size * inner, out = rows() * inner;
    if (inner == 1 && !copies) {
      for (int64_t o = 0; o < outer; o += kLong) Turned(x + o * in, y + o * out, std::min(kLong, outer - o), buffer);
      return;
    }
    for (int64_t o = 0; o < outer; ++o) Line(x + o * in, y + o * out, buffer);
  }
  int64_t BufferSize() const { return (size + rows()) * std::max(inner, kLong) + kLong; }

 private:
  template <typename In, typename Out>
  void Line(const In* x, Out* y, W* buffer) const {
    if (copies && inner < kLong) return Copies(x, y);
    if (copies || inner >= kLong) return RunPart(x, 0, y, 0, rows());
    if (inner == 3 || inner == 4) return Pixels(x, y, buffer);
    const int64_t *begin = taps.begin.data(), *index = taps.index.data();
    const W* weight = taps.weight.data();
    for (int64_t i = 0; i < rows(); ++i) {
      for (int64_t c = 0; c < inner; ++c) {
        W sum = 0;
        for (int64_t k = begin[i]; k < begin[i + 1]; ++k) {
          sum += weight[k] * static_cast<W>(x[index[k] * inner + c]);
        }
        *y++ = EndSum<Out>(sum);
      }
    }
  }
  template <typename In, typename Out>
  void Copies(const In* DRAGON_RESTRICT x, Out* DRAGON_RESTRICT y) const {
    const int64_t* DRAGON_RESTRICT index = taps.index.data();
    if (inner == 1) {
      const int64_t n = rows();
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<Out>(x[index[i]]);
      return;
    }
    for (int64_t i = 0; i < rows(); ++i, y += inner) {
      const In* from = x + index[i] * inner;
      for (int64_t c = 0; c < inner; ++c) y[c] = static_cast<Out>(from[c]);
    }
  }
  /// Pixels of three or four channels are read by fours: the fourth of three is dropped.
  template <typename In, typename Out>
  void Pixels(const In* x, Out* y, W* buffer) const {
    for (int64_t j = 0; j < size * inner; ++j) buffer[j] = static_cast<W>(x[j]);
    buffer[size * inner] = 0;
    const int64_t *begin = taps.begin.data(), *index = taps.index.data();
    const W* weight = taps.weight.data();
    using Four = typename FourOf<W>::Type;
    for (int64_t i = 0; i < rows(); ++i, y += inner) {
      Four sum{};
      for (int64_t k = begin[i]; k < begin[i + 1]; ++k) {
        sum += weight[k] * *reinterpret_cast<const Four*>(buffer + index[k] * inner);
      }
      const bool last = inner == 3 && i + 1 == rows();  // what is written beyond a pixel, the next one covers
      StoreFour(sum, y, last ? 3 : 4);
    }
  }
  template <typename Out>
  void StoreFour(typename FourOf<W>::Type sum, Out* y, int count) const {
    y[0] = EndSum<Out>(sum[0]), y[1] = EndSum<Out>(sum[1]), y[2] = EndSum<Out>(sum[2]);
    if (count == 4) y[3] = EndSum<Out>(sum[3]);
  }
  /// Lines whose elements lie side by side: up to kLong of them are turned, weighed as rows, and turned back.
  template <typename In, typename Out>
  void Turned(const In* x, Out* y, int64_t lines, W* buffer) const {
    W *turned = buffer, *made = buffer + size * kLong;
    for (int64_t o = 0; o < kLong; ++o) {
      const In* line = x + std::min(o, lines - 1) * size;
      for (int64_t j = 0; j < size; ++j) turned[j * kLong + o] = static_cast<W>(line[j]);
    }
    for (int64_t i = 0; i < rows(); ++i) {
      W sum[kLong];
      std::fill_n(sum, kLong, W(0));
      for (int64_t k = taps.begin[i]; k < taps.begin[i + 1]; ++k) {
        const W *from = turned + taps.index[k] * kLong, weight = taps.weight[k];
#pragma omp simd
        for (int64_t o = 0; o < kLong; ++o) sum[o] += weight * from[o];
      }
      std::copy_n(sum, kLong, made + i * kLong);
    }
    for (int64_t o = 0; o < lines; ++o) {
      for (int64_t i = 0; i < rows(); ++i) y[o * rows() + i] = EndSum<Out>(made[i * kLong + o]);
    }
  }
  /// One result of `inner` elements: pieces are summed in a small buffer, so that halves round once.
  template <typename In, typename Out>
  void Row(const In* x, Out* y, int64_t i, int64_t length) const {
    const int64_t begin = taps.begin[i], count = taps.begin[i + 1] - begin;
    const int64_t* index = taps.index.data() + begin;
    const W* weight = taps.weight.data() + begin;
    if (copies) {
      const In* from = x + index[0] * inner;
      if constexpr (std::is_same_v<In, Out>) {
        std::copy_n(from, length, y);
      } else {
        for (int64_t j = 0; j < length; ++j) y[j] = static_cast<Out>(from[j]);
      }
      return;
    }
    if (count == 2) {
      const In *one = x + index[0] * inner, *other = x + index[1] * inner;
      const W first = weight[0], second = weight[1];
#pragma omp simd
      for (int64_t j = 0; j < length; ++j) {
        y[j] = EndSum<Out>(first * static_cast<W>(one[j]) + second * static_cast<W>(other[j]));
      }
      return;
    }
    W sum[kPiece];
    for (int64_t at = 0; at < length; at += kPiece) {
      const int64_t piece = std::min(kPiece, length - at);
      std::fill_n(sum, piece, W(0));
      int64_t k = 0;
      for (; k + 4 <= count; k += 4) {
        const In *a = x + index[k] * inner + at, *b = x + index[k + 1] * inner + at;
        const In *c = x + index[k + 2] * inner + at, *d = x + index[k + 3] * inner + at;
        const W p = weight[k], q = weight[k + 1], r = weight[k + 2], s = weight[k + 3];
#pragma omp simd
        for (int64_t j = 0; j < piece; ++j) {
          const W one = p * static_cast<W>(a[j]) + q * static_cast<W>(b[j]);
          sum[j] += one + (r * static_cast<W>(c[j]) + s * static_cast<W>(d[j]));
        }
      }
      for (; k < count; ++k) {
        const In* from = x + index[k] * inner + at;
        const W w = weight[k];
#pragma omp simd
        for (int64_t j = 0; j < piece; ++j) sum[j] += w * static_cast<W>(from[j]);
      }
#pragma omp simd
      for (int64_t j = 0; j < piece; ++j) y[at + j] = EndSum<Out>(sum[j]);
    }
  }
};

}  // namespace dragon::DRAGON_DEVICE
