// Everything driven by a mask on CUDA. True entries are counted for each piece of the mask, the counts are summed, and
// then every piece knows where its first goes; within a piece, warps vote. The order is that of the elements.
#include "core/device/cuda/fetch.h"
#include "core/kernels/each.h"
#include "core/kernels/index.h"
#include "core/kernels/index/order_cuda.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Walk;

namespace {

template <typename T>
__device__ __forceinline__ bool NotZero(T value) {
  if constexpr (kIsComplex<T>) {
    return value.re != 0 || value.im != 0;
  } else {
    return value != T(0);
  }
}

/// A thread's marks of a piece. The operand of `walk` with the marks is number kMarks of kCount.
template <typename T, int kCount, int kMarks>
__device__ __forceinline__ void LoadMarks(const DeviceWalk<kCount, int64_t>& walk, const T* data, int64_t first,
                                          int64_t total, bool (&marks)[kRounds]) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int64_t i = first + round * kOrderThreads;
    marks[round] = false;
    if (i >= total) continue;
    int64_t at[kCount];
    walk.At(i, at);
    marks[round] = NotZero(data[at[kMarks]]);
  }
}

/// How many marks each piece has.
template <typename T, int kCount, int kMarks>
__global__ void CountPiecesKernel(const __grid_constant__ DeviceWalk<kCount, int64_t> walk, const T* data,
                                  int64_t total, int64_t* counts) {
  for (int64_t piece = blockIdx.x; piece * kPiece < total; piece += gridDim.x) {
    bool marks[kRounds];
    LoadMarks<T, kCount, kMarks>(walk, data, piece * kPiece + threadIdx.x, total, marks);
    const int count = CountMarks(marks);
    if (threadIdx.x == 0) counts[piece] = count;
  }
}

/// Call f(i, offsets, whether it is marked, marks before it) for every element. `counts` are those before each piece.
template <typename T, int kCount, int kMarks, typename F>
__global__ void VisitPiecesKernel(const __grid_constant__ DeviceWalk<kCount, int64_t> walk, const T* data,
                                  int64_t total, const int64_t* counts, const F f) {
  for (int64_t piece = blockIdx.x; piece * kPiece < total; piece += gridDim.x) {
    const int64_t first = piece * kPiece + threadIdx.x;
    bool marks[kRounds];
    LoadMarks<T, kCount, kMarks>(walk, data, first, total, marks);
    const MarksOfPiece all(marks);
#pragma unroll 1
    for (int round = 0; round < kRounds; ++round) {
      const int64_t i = first + round * kOrderThreads;
      if (i >= total) break;
      int64_t at[kCount];
      walk.At(i, at);
      f(i, at, all.Has(round), counts[piece] + all.Before(round));
    }
  }
}

template <typename T, int kMarks, int kCount, typename F>
void VisitMarks(const char* who, const Context& ctx, const Walk<kCount>& walk, const T* marks, const F& f) {
  const int64_t total = walk.total();
  if (total == 0) return;
  const DeviceWalk<kCount, int64_t> device{WalkAxes<kCount>(walk)};
  const int64_t pieces = (total + kPiece - 1) / kPiece;
  const Scratch counts = ctx.Allocate<int64_t>(pieces + 1);
  const cuda::Grid grid{cuda::GridFor(pieces, 1).blocks, dim3(kOrderThreads)};
  cuda::Launch(who, ctx, &CountPiecesKernel<T, kCount, kMarks>, grid, device, marks, total, counts.as<int64_t>());
  SumsBefore(ctx, counts.as<int64_t>(), pieces);
  cuda::Launch(who, ctx, &VisitPiecesKernel<T, kCount, kMarks, F>, grid, device, marks, total, counts.as<int64_t>(), f);
}

struct Choose {
  template <typename W>
  DRAGON_FN W operator()(W x, bool mask, W value) const {
    return mask ? value : x;
  }
};

/// The dtype whose elements a fill moves in place of those of `bytes` bytes.
constexpr DType MovedAs(int64_t bytes) {
  return bytes == 1   ? DType::kUInt8
         : bytes == 2 ? DType::kInt16
         : bytes == 4 ? DType::kInt32
         : bytes == 8 ? DType::kInt64
                      : DType::kComplex128;
}

template <typename W>
void FillMoved(Context& ctx, View y, View x, View mask, View value) {
  y.dtype = x.dtype = value.dtype = kDTypeOf<W>;
  Each<W(W, bool, W)>(ctx, Choose{}, y, x, mask, value);
}

template <typename W>
struct Select {
  W* y;
  const W* x;
  int64_t y_step, size;
  /// The mask may have changed since it was counted: nothing is written beyond what y has room for.
  __device__ void operator()(int64_t, const int64_t (&at)[2], bool mark, int64_t before) const {
    if (mark && before < size) y[before * y_step] = x[at[0]];
  }
};

template <typename W>
struct Spread {
  W* y;
  const W *x, *src;
  int64_t size, total;
  cuda::Faults faults;
  /// `total` elements come; the last of them knows how many the mask selects.
  __device__ void operator()(int64_t i, const int64_t (&at)[3], bool mark, int64_t before) const {
    y[at[0]] = !mark ? x[at[1]] : before < size ? src[before] : W{};
    if (i == total - 1 && before + mark > size) faults.Report(cuda::FaultKind::kShort, size, before + mark);
  }
};

/// Rows of places, in the shape of x.
struct WritePlaces {
  int64_t* y;
  int64_t rows;
  int32_t ndim;
  int64_t shape[kMaxDims];
  __device__ void operator()(int64_t i, const int64_t (&)[1], bool mark, int64_t before) const {
    if (!mark || before >= rows) return;
    int64_t* row = y + before * ndim;
    for (int axis = ndim - 1; axis > 0; --axis) {
      const int64_t outer = i / shape[axis];
      row[axis] = i - outer * shape[axis];
      i = outer;
    }
    if (ndim > 0) row[0] = i;
  }
};

}  // namespace

template <typename T>
void MaskedFill(Context& ctx, View y, View x, View mask, View value) {
  switch (MovedAs(sizeof(T))) {
    case DType::kUInt8:
      return FillMoved<uint8_t>(ctx, y, x, mask, value);
    case DType::kInt16:
      return FillMoved<int16_t>(ctx, y, x, mask, value);
    case DType::kInt32:
      return FillMoved<int32_t>(ctx, y, x, mask, value);
    case DType::kInt64:
      return FillMoved<int64_t>(ctx, y, x, mask, value);
    default:
      return FillMoved<complex128>(ctx, y, x, mask, value);
  }
}
DRAGON_KERNEL(MaskedFill, AllTypes);

template <typename T>
void MaskedSelect(Context& ctx, View y, View x, View mask) {
  using W = kernels::Word<T>;
  const Walk<2> walk(x.shape, 0, x.ndim, {x.strides, mask.strides});
  VisitMarks<bool, 1>("masked_select", ctx, walk, mask.as<const bool>(),
                      Select<W>{y.as<W>(), x.as<const W>(), y.strides[0], y.numel});
}
DRAGON_KERNEL(MaskedSelect, AllTypes);

template <typename T>
void MaskedScatter(Context& ctx, View y, View x, View mask, View src) {
  using W = kernels::Word<T>;
  const Walk<3> walk(y.shape, 0, y.ndim, {y.strides, x.strides, mask.strides});
  VisitMarks<bool, 2>("masked_scatter", ctx, walk, mask.as<const bool>(),
                      Spread<W>{y.as<W>(), x.as<const W>(), src.as<const W>(), src.numel, walk.total(),
                                cuda::FaultsOf(ctx, "masked_scatter")});
}
DRAGON_KERNEL(MaskedScatter, AllTypes);

/// The number goes to the host, which needs it to make what comes next: the one kernel here that waits.
template <typename T>
void CountMarked(Context& ctx, int64_t* count, View x) {
  *count = 0;
  if (x.numel == 0) return;
  const Scratch found = ctx.Allocate<int64_t>(1);
  const Dims ones = Dims::Filled(x.ndim, 1);
  const View y{found.data(), ones.data(), ones.data(), 1, x.ndim, DType::kInt64};
  kernels::CountNonzero(ctx, x.dtype, y, x);
  cuda::Fetch("count_marked", ctx, count, found.as<const int64_t>());
}
DRAGON_KERNEL(CountMarked, AllTypes);

template <typename T>
void Nonzero(Context& ctx, View y, View x) {
  const Walk<1> walk(x.shape, 0, x.ndim, {x.strides});
  WritePlaces write{y.as<int64_t>(), y.shape[0], x.ndim, {}};
  std::copy_n(x.shape, x.ndim, write.shape);
  VisitMarks<T, 0>("nonzero", ctx, walk, x.as<const T>(), write);
}
DRAGON_KERNEL(Nonzero, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
