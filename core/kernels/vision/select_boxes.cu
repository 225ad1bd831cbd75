// The best of many boxes: a block for every row of scores takes the best box that is left, then lets it hide, or
// weaken, the others. Boxes that are weakened meet each box as it is taken, not when their turn comes: where scores are
// negative and `sigma` is not 0, which grow as they shrink, the order may differ from the CPU's.
#include <limits>

#include "core/device/cuda/block.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kMostThreads = 1024;

/// A box that waits; of equals the first is better. A box of no number is the worst.
struct Waiting {
  double score;
  int64_t box;
};

struct Better {
  __device__ Waiting operator()(const Waiting& a, const Waiting& b) const {
    if (b.box < 0) return a;
    if (a.box < 0) return b;
    return b.score > a.score || (b.score == a.score && b.box < a.box) ? b : a;
  }
};

/// A box by its corners, put right, and what it covers.
template <typename W>
struct Cover {
  W top, left, bottom, right, area;

  template <typename T>
  __device__ explicit Cover(const T* box) {
    const W y1 = static_cast<W>(box[0]), x1 = static_cast<W>(box[1]);
    const W y2 = static_cast<W>(box[2]), x2 = static_cast<W>(box[3]);
    top = min(y1, y2), bottom = max(y1, y2), left = min(x1, x2), right = max(x1, x2);
    area = (bottom - top) * (right - left);
  }
  /// What two share, by what both cover; 0 where that is nothing.
  __device__ W Overlap(const Cover& other) const {
    const W height = max(W(0), min(other.bottom, bottom) - max(other.top, top));
    const W width = max(W(0), min(other.right, right) - max(other.left, left));
    const W shared = height * width, whole = other.area + area - shared;
    return shared / (whole > 0 ? whole : W(1));
  }
};

/// One row of scores: `left` holds those of the boxes that still wait, NaN for the others.
template <typename T>
struct Row {
  using W = Wide<T>;

  const T* boxes;
  int64_t count;
  double overlap, least, sigma;
  double* left;

  __device__ void Begin(const T* scores) const {
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      const W score = static_cast<W>(scores[i]);
      left[i] = score > static_cast<W>(least) ? static_cast<double>(score) : Gone();
    }
  }
  __device__ Waiting Best() const {
    Waiting best{0, -1};
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      const double score = left[i];
      if (score == score) best = Better{}(best, Waiting{score, i});
    }
    return cuda::BlockReduce(best, Better{});
  }
  /// What the taken box does to the others.
  __device__ void Take(int64_t taken) const {
    const Cover<W> cover(boxes + 4 * taken);
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      const double score = left[i];
      if (i == taken) left[i] = Gone();
      if (i == taken || score != score) continue;
      const W shared = Cover<W>(boxes + 4 * i).Overlap(cover);
      if (sigma > 0) {
        const double weaker =
            score * static_cast<double>(std::exp(static_cast<W>(-0.5) * shared * shared / static_cast<W>(sigma)));
        if (weaker != score) left[i] = weaker > least ? weaker : Gone();
      } else if (shared > static_cast<W>(overlap)) {
        left[i] = Gone();
      }
    }
  }
  static __device__ double Gone() { return std::numeric_limits<double>::quiet_NaN(); }
};

template <typename T>
__global__ void SelectBoxesKernel(const T* boxes, const T* scores, int64_t rows, int64_t count, int64_t shared,
                                  int64_t limit, double overlap, double least, double sigma, double* left,
                                  int32_t* kept, T* values, int32_t* counts) {
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    const Row<T> row{boxes + r / shared * count * 4, count, overlap, least, sigma, left + blockIdx.x * count};
    row.Begin(scores + r * count);
    __syncthreads();
    int64_t found = 0;
    for (; found < limit; ++found) {
      const Waiting best = row.Best();  // for the whole block the same
      if (best.box < 0) break;
      if (threadIdx.x == 0) {
        kept[r * limit + found] = static_cast<int32_t>(best.box);
        values[r * limit + found] = static_cast<T>(static_cast<Wide<T>>(best.score));
      }
      row.Take(best.box);
      __syncthreads();
    }
    for (int64_t i = found + threadIdx.x; i < limit; i += blockDim.x)
      kept[r * limit + i] = 0, values[r * limit + i] = T(0);
    if (threadIdx.x == 0) counts[r] = static_cast<int32_t>(found);
    __syncthreads();
  }
}

}  // namespace

template <typename T>
void SelectBoxes(Context& ctx, View kept, View values, View counts, View boxes, View scores,
                 const SelectBoxesSpec& spec) {
  const int64_t rows = scores.shape[0], count = scores.shape[1], shared = rows / std::max<int64_t>(1, boxes.shape[0]);
  if (rows == 0) return;
  const int64_t blocks = std::min<int64_t>(rows, 1024);
  int threads = cuda::kWarpThreads;
  while (threads < kMostThreads && threads < count) threads *= 2;
  auto left = ctx.Allocate<double>(std::max<int64_t>(1, blocks * count));
  cuda::Launch("select_boxes", ctx, &SelectBoxesKernel<T>,
               {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads))}, boxes.as<const T>(),
               scores.as<const T>(), rows, count, shared, spec.limit, spec.overlap, spec.least, spec.sigma,
               left.template as<double>(), kept.as<int32_t>(), values.as<T>(), counts.as<int32_t>());
}
DRAGON_KERNEL(SelectBoxes, Floating);

}  // namespace dragon::DRAGON_DEVICE
