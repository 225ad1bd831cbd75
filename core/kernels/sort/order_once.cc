// The sorter: comparison sort for short lists, radix sort for long ones, merged pieces when threads are free.
#include <algorithm>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/sort/order.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int64_t kRadixFrom = 768;         // below this a comparison sort is faster
constexpr int64_t kParallelFrom = 1 << 17;  // below this waking threads does not pay
constexpr int kDigitBits = 11;
constexpr int kBuckets = 1 << kDigitBits;

/// Least significant digit first, skipping digits that all keys share.
template <typename P>
void RadixSort(P* data, P* spare, int64_t count, int key_bits) {
  const int digits = (key_bits + kDigitBits - 1) / kDigitBits;
  std::vector<int64_t> histogram(static_cast<size_t>(digits) * kBuckets, 0);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t key = Key(data[i]);
    for (int d = 0; d < digits; ++d, key >>= kDigitBits) ++histogram[d * kBuckets + (key & (kBuckets - 1))];
  }
  P *from = data, *to = spare;
  for (int d = 0; d < digits; ++d) {
    int64_t* bucket = histogram.data() + d * kBuckets;
    const int shift = d * kDigitBits;
    if (bucket[(Key(from[0]) >> shift) & (kBuckets - 1)] == count) continue;
    int64_t start = 0;
    for (int b = 0; b < kBuckets; ++b) start += std::exchange(bucket[b], start);
    for (int64_t i = 0; i < count; ++i) to[bucket[(Key(from[i]) >> shift) & (kBuckets - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != data) std::copy(from, from + count, data);
}

template <typename P>
void SortAlone(P* data, P* spare, int64_t count, int key_bits) {
  if (count < kRadixFrom) {
    std::sort(data, data + count);
  } else {
    RadixSort(data, spare, count, key_bits);
  }
}

/// How many of the first `rank` merged elements come from `a`.
template <typename P>
int64_t TakenFromFirst(const P* a, int64_t a_count, const P* b, int64_t b_count, int64_t rank) {
  int64_t low = std::max<int64_t>(0, rank - b_count), high = std::min(rank, a_count);
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (a[middle] < b[rank - middle - 1]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <typename P>
void MergeParallel(P* to, const P* a, int64_t a_count, const P* b, int64_t b_count) {
  ParallelFor(a_count + b_count, kGrain, [&](int64_t begin, int64_t end) {
    const int64_t first = TakenFromFirst(a, a_count, b, b_count, begin);
    const int64_t last = TakenFromFirst(a, a_count, b, b_count, end);
    std::merge(a + first, a + last, b + (begin - first), b + (end - last), to + begin);
  });
}

template <typename P>
void SortLong(P* data, P* spare, int64_t count, int key_bits) {
  int64_t pieces = 1;
  if (count >= kParallelFrom && !omp_in_parallel() && !ForkedFromTeam()) {
    while (2 * pieces <= NumThreads()) pieces *= 2;
  }
  if (pieces == 1) return SortAlone(data, spare, count, key_bits);
  const auto edge = [&](int64_t piece) { return count * piece / pieces; };
  ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      SortAlone(data + edge(p), spare + edge(p), edge(p + 1) - edge(p), key_bits);
    }
  });
  P *from = data, *to = spare;
  for (int64_t width = 1; width < pieces; width *= 2) {
    for (int64_t p = 0; p < pieces; p += 2 * width) {
      const int64_t begin = edge(p), middle = edge(p + width), end = edge(p + 2 * width);
      MergeParallel(to + begin, from + begin, middle - begin, from + middle, end - middle);
    }
    std::swap(from, to);
  }
  if (from != data) std::copy(from, from + count, data);
}

}  // namespace

void SortPacked(Packed* data, Packed* spare, int64_t count, int key_bits) { SortLong(data, spare, count, key_bits); }
void SortPacked(WidePacked* data, WidePacked* spare, int64_t count, int key_bits) {
  SortLong(data, spare, count, key_bits);
}

}  // namespace dragon::DRAGON_DEVICE
