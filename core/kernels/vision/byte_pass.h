// One axis of 8-bit images resized: weights are whole numbers of 16 bits, as PyTorch's are, and two bytes are weighed
// at a time, a vector of results at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/kernels/vision/byte_vector.h"
#include "core/kernels/vision/taps.h"

namespace dragon::DRAGON_DEVICE {

/// One axis, seen as (outer, size, inner).
class BytePass {
 public:
  using Element = uint8_t;  ///< of the room that Run is given

  int64_t size, inner;

  BytePass() = default;
  BytePass(const Taps<double>& weights, int64_t size, int64_t inner) : size(size), inner(inner) {
    const auto [taps, bits] = WholeOf(weights);
    bits_ = bits;
    for (int64_t i = 0; i < taps.rows(); ++i) AddResult(taps, taps.begin[i], taps.begin[i + 1]);
  }

  int64_t rows() const { return static_cast<int64_t>(begin_.size()) - 1; }
  /// The inputs [first, second) that results [begin, end) read.
  std::pair<int64_t, int64_t> Reach(int64_t begin, int64_t end) const {
    int64_t low = size, high = 0;
    for (int64_t k = begin_[begin]; k < begin_[end]; ++k) {
      low = std::min({low, pairs_[k].first, pairs_[k].second});
      high = std::max({high, pairs_[k].first + 1, pairs_[k].second + 1});
    }
    return {std::min(low, high), high};
  }
  /// Results [begin, end) of one line, of which x holds the inputs from `shift` on.
  void RunPart(const uint8_t* x, int64_t shift, uint8_t* y, int64_t begin, int64_t end) const {
    for (int64_t i = begin; i < end; ++i, y += inner) {
      for (int64_t at = 0; at < inner; at += kVectorOfBytes) {
        // The last vector begins earlier, over results that are there already.
        const int64_t from = std::max<int64_t>(0, std::min(at, inner - kVectorOfBytes));
        const int64_t count = std::min(inner, kVectorOfBytes);
        StoreBytes(y + from, Blend(x + from - shift * inner, inner, i, count), count);
      }
    }
  }
  /// All results of `outer` lines; `buffer` has room for BufferSize() bytes.
  void Run(const uint8_t* x, uint8_t* y, int64_t outer, uint8_t* buffer) const {
    const int64_t in = size * inner, out = rows() * inner;
    if (inner >= kVectorOfBytes) {
      for (int64_t o = 0; o < outer; ++o) RunPart(x + o * in, 0, y + o * out, 0, rows());
      return;
    }
    for (int64_t o = 0; o < outer; o += kVectorOfBytes) {
      Turned(x + o * in, y + o * out, std::min(kVectorOfBytes, outer - o), buffer);
    }
  }
  int64_t BufferSize() const { return inner >= kVectorOfBytes ? 1 : (TurnedIn() + TurnedOut()) * kVectorOfBytes; }

 private:
  /// Two inputs and their weights, the first's in the lower half.
  struct Pair {
    int64_t first, second;
    int32_t weights;
  };

  void AddResult(const Taps<int32_t>& taps, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k += 2) {
      const bool alone = k + 1 == end;
      const int32_t first = taps.weight[k], second = alone ? 0 : taps.weight[k + 1];
      const auto weights = static_cast<uint32_t>(first & 0xffff) | static_cast<uint32_t>(second) << 16;
      pairs_.push_back({taps.index[k], taps.index[alone ? k : k + 1], static_cast<int32_t>(weights)});
    }
    begin_.push_back(static_cast<int64_t>(pairs_.size()));
  }

  /// Result i of a vector of lines; of their inputs, `stride` bytes apart, `count` bytes may be read.
  ByteVector Blend(const uint8_t* x, int64_t stride, int64_t i, int64_t count) const {
    const ByteVector none{}, half = Repeated(bits_ > 0 ? 1 << (bits_ - 1) : 0);
    ByteVector sums[4] = {half, half, half, half};
    for (int64_t k = begin_[i]; k < begin_[i + 1]; ++k) {
      const Pair& pair = pairs_[k];
      const ByteVector weights = Repeated(pair.weights);
      const ByteVector a = LoadBytes(x + pair.first * stride, count), b = LoadBytes(x + pair.second * stride, count);
      const ByteVector low = InterleaveLow(a, b), high = InterleaveHigh(a, b);
      sums[0] = AddWords(sums[0], MultiplyPairs(InterleaveLow(low, none), weights));
      sums[1] = AddWords(sums[1], MultiplyPairs(InterleaveHigh(low, none), weights));
      sums[2] = AddWords(sums[2], MultiplyPairs(InterleaveLow(high, none), weights));
      sums[3] = AddWords(sums[3], MultiplyPairs(InterleaveHigh(high, none), weights));
    }
    for (ByteVector& sum : sums) sum = ShiftWords(sum, bits_);
    return PackBytes(sums[0], sums[1], sums[2], sums[3]);
  }

  int64_t TurnedIn() const { return std::max(size * inner, kVectorOfBytes); }
  int64_t TurnedOut() const { return std::max(rows() * inner, kLaneOfBytes); }

  /// Lines whose elements lie side by side: up to a vector of them are turned, blended as rows, and turned back.
  void Turned(const uint8_t* x, uint8_t* y, int64_t lines, uint8_t* buffer) const {
    uint8_t *turned = buffer, *made = buffer + TurnedIn() * kVectorOfBytes;
    for (int64_t o = 0; o < lines; o += kLaneOfBytes) TurnIn(x + o * size * inner, lines - o, turned + o);
    uint8_t* to = made;
    for (int64_t i = 0; i < rows(); ++i) {
      for (int64_t c = 0; c < inner; ++c, to += kVectorOfBytes) {
        StoreBytes(to, Blend(turned + c * kVectorOfBytes, inner * kVectorOfBytes, i, kVectorOfBytes));
      }
    }
    TurnOut(made, y, lines);
  }
  /// Sixteen lines, or what there is of them, become a lane of each row of `turned`.
  void TurnIn(const uint8_t* x, int64_t lines, uint8_t* turned) const {
    const int64_t length = size * inner;
    for (int64_t at = 0; at < length; at += kVectorOfBytes) {
      const int64_t from = std::max<int64_t>(0, std::min(at, length - kVectorOfBytes));
      ByteVector rows[kLaneOfBytes];
      for (int64_t o = 0; o < kLaneOfBytes; ++o) {
        rows[o] = LoadBytes(x + std::min(o, lines - 1) * length + from, length - from);
      }
      TurnLanes(rows);
      for (int64_t c = 0; c < kLaneOfBytes; ++c) {
        uint8_t bytes[kVectorOfBytes];
        StoreBytes(bytes, rows[c]);
        for (int64_t lane = 0; lane < kVectorOfBytes; lane += kLaneOfBytes) {
          std::memcpy(turned + (from + lane + c) * kVectorOfBytes, bytes + lane, kLaneOfBytes);
        }
      }
    }
  }
  /// Sixteen results at a time of all lines.
  void TurnOut(const uint8_t* made, uint8_t* y, int64_t lines) const {
    const int64_t length = rows() * inner, count = std::min(length, kLaneOfBytes);
    for (int64_t at = 0; at < length; at += kLaneOfBytes) {
      const int64_t from = std::max<int64_t>(0, std::min(at, length - kLaneOfBytes));
      ByteVector rows[kLaneOfBytes];
      for (int64_t c = 0; c < kLaneOfBytes; ++c) rows[c] = LoadBytes(made + (from + c) * kVectorOfBytes);
      TurnLanes(rows);
      for (int64_t c = 0; c < kLaneOfBytes; ++c) {
        uint8_t bytes[kVectorOfBytes];
        StoreBytes(bytes, rows[c]);
        for (int64_t o = c; o < lines; o += kLaneOfBytes) {
          uint8_t* to = y + o * length + from;
          const uint8_t* lane = bytes + o - c;
          if (count == kLaneOfBytes) {
            std::memcpy(to, lane, kLaneOfBytes);
          } else {
            std::memcpy(to, lane, count);
          }
        }
      }
    }
  }

  int bits_ = 0;
  std::vector<Pair> pairs_;
  std::vector<int64_t> begin_{0};
};

}  // namespace dragon::DRAGON_DEVICE
