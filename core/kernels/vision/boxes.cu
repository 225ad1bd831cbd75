// Boxes that hide others. Who overlaps whom is asked of all pairs at once, 64 to a word; who stays is then found by one
// block, word after word. The words of so many boxes at a time are kept: all pairs' would be too many.
#include "core/device/cuda/block.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using Word = unsigned long long;
constexpr int kWordBits = 64, kResolvers = 1024;
/// Boxes whose words are made in one launch.
constexpr int64_t kBand = 4096;

/// words[(i - first) * stride + w]: which of the 64 boxes from 64 w on box i hides, of those behind it.
template <typename T>
__global__ void OverlapKernel(const T* __restrict__ boxes, int64_t count, int64_t first, int64_t end, int64_t stride,
                              double threshold, Word* __restrict__ words) {
  using W = Wide<T>;
  alignas(16) __shared__ W corners[4][kWordBits];
  cuda::FillShared(corners);
  for (int64_t w = first / kWordBits + blockIdx.x; w < stride; w += gridDim.x) {
    const int64_t other = w * kWordBits + threadIdx.x;
    __syncthreads();
    for (int k = 0; k < 4; ++k) corners[k][threadIdx.x] = other < count ? static_cast<W>(boxes[4 * other + k]) : W(0);
    __syncthreads();
    for (int64_t i = first + blockIdx.y * kWordBits + threadIdx.x; i < end; i += int64_t{gridDim.y} * kWordBits) {
      const W left = static_cast<W>(boxes[4 * i]), top = static_cast<W>(boxes[4 * i + 1]);
      const W right = static_cast<W>(boxes[4 * i + 2]), bottom = static_cast<W>(boxes[4 * i + 3]);
      const W own = (right - left) * (bottom - top);
      Word word = 0;
      for (int j = 0; j < kWordBits; ++j) {
        const int64_t at = w * kWordBits + j;
        if (at <= i || at >= count) continue;
        const W l = corners[0][j], t = corners[1][j], r = corners[2][j], b = corners[3][j];
        const W width = max(W(0), min(right, r) - max(left, l)), height = max(W(0), min(bottom, b) - max(top, t));
        const W common = width * height, area = (r - l) * (b - t);
        // Where both cover nothing, this is no number and nothing is hidden.
        const bool hidden = static_cast<double>(common / (own + area - common)) > threshold;
        if (hidden) word |= Word{1} << j;
      }
      words[(i - first) * stride + w] = word;
    }
  }
}

/// One block: boxes [first, end) stay unless hidden; those that stay hide others. `hidden` holds a bit for every box.
__global__ void ResolveKernel(bool* stays, int64_t first, int64_t end, int64_t stride, const Word* __restrict__ words,
                              Word* hidden) {
  alignas(16) __shared__ Word own[kWordBits];
  cuda::FillShared(own);
  alignas(16) __shared__ Word staying[1];
  cuda::FillShared(staying);
  for (int64_t base = first; base < end; base += kWordBits) {
    const int64_t w = base / kWordBits, rows = min(int64_t{kWordBits}, end - base);
    const Word* lines = words + (base - first) * stride;
    if (threadIdx.x < rows) own[threadIdx.x] = lines[threadIdx.x * stride + w];
    __syncthreads();
    if (threadIdx.x == 0) {
      Word gone = hidden[w], kept = 0;
      for (int j = 0; j < rows; ++j) {
        if (gone >> j & 1) continue;
        kept |= Word{1} << j;
        gone |= own[j];
      }
      staying[0] = kept;
    }
    __syncthreads();
    const Word kept = staying[0];
    if (threadIdx.x < rows) stays[base + threadIdx.x] = kept >> threadIdx.x & 1;
    for (int64_t at = w + 1 + threadIdx.x; at < stride; at += blockDim.x) {
      Word gone = hidden[at];
      for (int j = 0; j < rows; ++j) {
        if (kept >> j & 1) gone |= lines[j * stride + at];
      }
      hidden[at] = gone;
    }
    __syncthreads();
  }
}

}  // namespace

template <typename T>
void SuppressBoxes(Context& ctx, View stays, View boxes, double threshold) {
  const int64_t count = stays.numel;
  if (count == 0) return;
  const int64_t stride = (count + kWordBits - 1) / kWordBits;
  auto words = ctx.Allocate<Word>(std::min(kBand, count) * stride), hidden = ctx.Allocate<Word>(stride);
  CheckCuda(cudaMemsetAsync(hidden.data(), 0, stride * sizeof(Word), cuda::StreamOf(ctx)), "suppress_boxes");
  for (int64_t first = 0; first < count; first += kBand) {
    const int64_t end = std::min(count, first + kBand);
    const auto across = static_cast<unsigned>(std::min(stride - first / kWordBits, cuda::kMostBlocks));
    const dim3 blocks(across, static_cast<unsigned>((end - first + kWordBits - 1) / kWordBits));
    cuda::Launch("suppress_boxes", ctx, &OverlapKernel<T>, {blocks, dim3(kWordBits)}, boxes.as<const T>(), count, first,
                 end, stride, threshold, words.template as<Word>());
    cuda::Launch("suppress_boxes", ctx, &ResolveKernel, {dim3(1), dim3(kResolvers)}, stays.as<bool>(), first, end,
                 stride, words.template as<const Word>(), hidden.template as<Word>());
  }
}
DRAGON_KERNEL(SuppressBoxes, Floating);

}  // namespace dragon::DRAGON_DEVICE
