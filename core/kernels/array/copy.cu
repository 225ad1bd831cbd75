// Copying on CUDA: casts between the commonest dtypes sixteen bytes at a time, transposed matrices by way of shared
// memory, and whatever else there is element by element.
#include "core/device/cuda/block.h"
#include "core/kernels/array.h"
#include "core/kernels/each.h"
#include "core/kernels/identity.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// What a cast is often from; all other dtypes are read element by element.
using CommonTypes = TypeList<bool, uint8_t, int32_t, int64_t, float16, bfloat16, float, double>;

template <typename To, typename From>
__global__ void CastKernel(To* y, const From* x, int64_t n) {
  constexpr int kWidth = 16 / static_cast<int>(std::max(sizeof(To), sizeof(From)));
  const int64_t packs = n / kWidth;
  for (int64_t i = cuda::FirstOfThread(); i < packs; i += cuda::StepOfThreads()) {
    const auto from = reinterpret_cast<const Pack<From, kWidth>*>(x)[i];
    Pack<To, kWidth> to;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) to.at[j] = Cast<To>(from.at[j]);
    reinterpret_cast<Pack<To, kWidth>*>(y)[i] = to;
  }
  const int64_t last = packs * kWidth + cuda::FirstOfThread();
  if (last < n) y[last] = Cast<To>(x[last]);
}

template <typename To, typename From>
bool CastFrom(const Context& ctx, const kernels::Plan& plan) {
  if (plan.operands[1].dtype != kDTypeOf<From>) return false;
  constexpr int kWidth = 16 / static_cast<int>(std::max(sizeof(To), sizeof(From)));
  const auto at = [&](int k) { return reinterpret_cast<uintptr_t>(plan.operands[k].data); };
  if (at(0) % (kWidth * sizeof(To)) || at(1) % (kWidth * sizeof(From))) return false;
  cuda::Launch("copy", ctx, &CastKernel<To, From>, cuda::GridFor((plan.numel + kWidth - 1) / kWidth),
               reinterpret_cast<To*>(plan.operands[0].data), reinterpret_cast<const From*>(plan.operands[1].data),
               plan.numel);
  return true;
}

/// Neighbours stay neighbours, in another dtype.
template <typename To, typename... From>
bool CastFlat(const Context& ctx, const kernels::Plan& plan, TypeList<From...>) {
  if (plan.ndim != 1 || !plan.operands[0].contiguous || !plan.operands[1].contiguous) return false;
  return (CastFrom<To, From>(ctx, plan) || ...);
}

// --- transposed matrices

inline constexpr int kLanes = 32, kLines = 8, kMostBatchAxes = 6;

/// y is contiguous along columns, x along rows; the axes outside of both are `batch`. Strides are in bytes.
struct Matrices {
  int64_t rows, columns, y_row, x_column, row_tiles, column_tiles, tiles;
  int batch_axes = 0;
  int64_t batch[kMostBatchAxes], y_batch[kMostBatchAxes], x_batch[kMostBatchAxes];
};

template <typename Word>
inline constexpr int kTile = sizeof(Word) <= 2 ? 64 : 32;

template <typename Word>
__global__ void TransposeKernel(const __grid_constant__ Matrices m, char* y, const char* x) {
  constexpr int kSide = kTile<Word>;
  alignas(16) __shared__ unsigned char memory[kSide * (kSide + 1) * sizeof(Word)];
  cuda::FillShared(memory);
  Word* tile = reinterpret_cast<Word*>(memory);
  for (int64_t at = blockIdx.x; at < m.tiles; at += gridDim.x) {
    const int64_t column_tile = at % m.column_tiles, row_tile = at / m.column_tiles % m.row_tiles;
    int64_t batch = at / m.column_tiles / m.row_tiles;
    char* to = y;
    const char* from = x;
    for (int axis = m.batch_axes - 1; axis >= 0; --axis) {
      const int64_t index = batch % m.batch[axis];
      batch /= m.batch[axis];
      to += index * m.y_batch[axis], from += index * m.x_batch[axis];
    }
    const int64_t row = row_tile * kSide, column = column_tile * kSide;
    for (int j = threadIdx.y; j < kSide; j += kLines) {
      for (int i = threadIdx.x; i < kSide; i += kLanes) {
        if (column + j < m.columns && row + i < m.rows) {
          tile[j * (kSide + 1) + i] =
              *reinterpret_cast<const Word*>(from + (column + j) * m.x_column + (row + i) * sizeof(Word));
        }
      }
    }
    __syncthreads();
    for (int i = threadIdx.y; i < kSide; i += kLines) {
      for (int j = threadIdx.x; j < kSide; j += kLanes) {
        if (column + j < m.columns && row + i < m.rows) {
          *reinterpret_cast<Word*>(to + (row + i) * m.y_row + (column + j) * sizeof(Word)) = tile[j * (kSide + 1) + i];
        }
      }
    }
    __syncthreads();
  }
}

/// The axis along which x is contiguous, if there is one besides the last, along which y is; else -1.
int RowAxis(const kernels::Plan& plan, int64_t size) {
  const int last = plan.ndim - 1;
  if (plan.operands[0].strides[last] != size || plan.operands[1].strides[last] == size || plan.shape[last] < 8)
    return -1;
  for (int axis = 0; axis < last; ++axis) {
    if (plan.operands[1].strides[axis] == size && plan.shape[axis] >= 8) return axis;
  }
  return -1;
}

template <typename Word>
bool Transpose(const Context& ctx, const kernels::Plan& plan) {
  const int row = RowAxis(plan, sizeof(Word)), last = plan.ndim - 1;
  if (row < 0 || plan.ndim - 2 > kMostBatchAxes) return false;
  Matrices m{};
  m.rows = plan.shape[row], m.columns = plan.shape[last];
  m.y_row = plan.operands[0].strides[row], m.x_column = plan.operands[1].strides[last];
  m.row_tiles = (m.rows + kTile<Word> - 1) / kTile<Word>;
  m.column_tiles = (m.columns + kTile<Word> - 1) / kTile<Word>;
  m.tiles = m.row_tiles * m.column_tiles;
  for (int axis = 0; axis < last; ++axis) {
    if (axis == row) continue;
    m.batch[m.batch_axes] = plan.shape[axis];
    m.y_batch[m.batch_axes] = plan.operands[0].strides[axis];
    m.x_batch[m.batch_axes++] = plan.operands[1].strides[axis];
    m.tiles *= plan.shape[axis];
  }
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(m.tiles, int64_t{1} << 24));
  cuda::Launch("copy", ctx, &TransposeKernel<Word>, {dim3(blocks), dim3(kLanes, kLines)}, m, plan.operands[0].data,
               static_cast<const char*>(plan.operands[1].data));
  return true;
}

struct Quad {
  uint64_t low, high;
};
template <typename T>
using WordOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t,
                                                             std::conditional_t<sizeof(T) == 8, uint64_t, Quad>>>>;

}  // namespace

template <typename T>
void Copy(Context& ctx, View y, View x) {
  if (y.numel == 0) return;
  const View* const views[] = {&y, &x};
  const kernels::Plan plan(views, 2);
  if (x.dtype == y.dtype) {
    if (Transpose<WordOf<T>>(ctx, plan)) return;
  } else if (CastFlat<T>(ctx, plan, CommonTypes{})) {
    return;
  }
  Each<T(T)>(ctx, Identity{}, y, x);
}
DRAGON_KERNEL(Copy, StoredTypes);

}  // namespace dragon::DRAGON_DEVICE
