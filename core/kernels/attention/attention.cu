// Attention on CUDA by tiles of 64 queries and 64 keys with a running softmax: any strides, head sizes and dtypes.
// Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
//
// No atomics: the backward pass computes scores twice, once for blocks of keys and once for blocks of queries, and
// every sum is made in one order.
#include "core/kernels/attention/tensor_cores.h"
#include "core/kernels/attention/tiles_cuda.h"
#include "core/kernels/attention/vendor.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace attention;

/// A block's tile: which head, and the first row of it.
struct Where {
  int64_t batch, head, first;
  __device__ __forceinline__ Where(int64_t block, int64_t tiles, int64_t heads)
      : batch(block / tiles / heads), head(block / tiles % heads), first(block % tiles * kTile) {}
};

template <typename T, int kCols>
__global__ void __launch_bounds__(kTileThreads) AttentionForward(const __grid_constant__ Call<T> call) {
  using W = Wide<T>;
  W* scores = static_cast<W*>(cuda::DynamicShared());
  W* stage = scores + kTile * kScorePitch;
  const Sizes& size = call.size;
  const Where at(call.tiles - 1 - blockIdx.x % call.tiles + blockIdx.x / call.tiles * call.tiles, call.tiles,
                 size.heads);
  const int64_t key_head = at.head / (size.heads / size.key_heads), first_col = blockIdx.y * int64_t{kSide * kCols};
  const auto q = call.q.At(at.batch, at.head), k = call.k.At(at.batch, key_head), v = call.v.At(at.batch, key_head);
  const int64_t mask = call.masking.Offset(at.batch, at.head);
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  W sums[kOwn][kCols] = {}, most[kOwn], total[kOwn];
#pragma unroll
  for (int r = 0; r < kOwn; ++r) most[r] = -std::numeric_limits<W>::infinity(), total[r] = W(0);
  const int64_t visible = call.masking.Visible(min(size.queries, at.first + kTile));
  for (int64_t key = 0; key < visible; key += kTile) {
    W tile[kOwn][kOwn];
    Scores(tile, stage, q, at.first, size.queries, k, key, size.keys, size.width, call.scale);
#pragma unroll
    for (int r = 0; r < kOwn; ++r) {
      W highest = most[r];
#pragma unroll
      for (int c = 0; c < kOwn; ++c) {
        tile[r][c] = call.masking.Apply(tile[r][c], mask, at.first + y * kOwn + r, key + x + kSide * c);
        highest = tile[r][c] > highest ? tile[r][c] : highest;  // NaN is passed over here, and kept by the sum
      }
      highest = ShareRow(highest, [](W a, W b) { return a > b ? a : b; });
      const W shrink = highest == most[r] ? W(1) : rows::Exp(most[r] - highest);
      most[r] = highest;
      W sum = W(0);
#pragma unroll
      for (int c = 0; c < kOwn; ++c) sum += tile[r][c] = Weight(tile[r][c], highest);
      total[r] = total[r] * shrink + ShareRow(sum, rows::SumOf{});
#pragma unroll
      for (int c = 0; c < kCols; ++c) sums[r][c] *= shrink;
    }
    Spread(scores, tile);
    Gather<false>(sums, scores, stage, v, key, size.keys, first_col, size.value_width, W(1));
  }
  const W unseen = call.nan_if_unseen && size.keys > 0 ? std::numeric_limits<W>::quiet_NaN() : W(0);
  const int64_t row = (at.batch * size.heads + at.head) * size.queries + at.first + y * kOwn;
  W part[kOwn];
#pragma unroll
  for (int r = 0; r < kOwn; ++r) {
    part[r] = total[r] == W(0) ? unseen : W(1) / total[r];
    if (x > 0 || blockIdx.y > 0 || at.first + y * kOwn + r >= size.queries) continue;
    call.most[row + r] = most[r];
    call.log_sum[row + r] = rows::Log(total[r]);
  }
  StoreRows(call.out.At(at.batch, at.head), at.first, size.queries, first_col, size.value_width, sums, part);
}

/// meeting = sum over j of dy[i][j] * y[i][j], what the softmax takes off each weight's gradient: a warp for each
/// query.
template <typename T>
__global__ void Meetings(const __grid_constant__ Call<T> call) {
  using W = Wide<T>;
  const rows::Place place = rows::PlaceOf<false>();
  const Sizes& size = call.size;
  for (int64_t i = place.row; i < size.batch * size.heads * size.queries; i += place.step) {
    const int64_t query = i % size.queries, head = i / size.queries % size.heads, batch = i / size.queries / size.heads;
    const auto y = call.y.At(batch, head), dy = call.dy.At(batch, head);
    W sum = W(0);
    for (int64_t j = place.thread; j < size.value_width; j += place.threads) {
      sum += static_cast<W>(dy.data[query * dy.row + j * dy.col]) * static_cast<W>(y.data[query * y.row + j * y.col]);
    }
    sum = rows::Share<false>(sum, rows::SumOf{});
    if (place.thread == 0) call.meeting[i] = sum;
  }
}

/// Weights of a tile of scores, and what comes back to the scores: ds = p (dp - meeting).
template <typename T, typename W>
__device__ __forceinline__ void WeighTile(const Call<T>& call, int64_t mask, int64_t head_row, int64_t query,
                                          int64_t key, W (&p)[kOwn][kOwn], W (&ds)[kOwn][kOwn]) {
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
#pragma unroll
  for (int r = 0; r < kOwn; ++r) {
    const int64_t row = query + y * kOwn + r;
    const bool inside = row < call.size.queries;
    const RowSums<W> sums(inside ? call.most[head_row + row] : W(0), inside ? call.log_sum[head_row + row] : W(0),
                          call.nan_if_unseen);
    const W meeting = inside ? call.meeting[head_row + row] : W(0);
#pragma unroll
    for (int c = 0; c < kOwn; ++c) {
      const int64_t column = key + x + kSide * c;
      const bool counts = inside && column < call.size.keys;  // beyond the edge a weight of NaN would spoil the others
      p[r][c] = counts ? sums.Weight(call.masking.Apply(p[r][c], mask, row, column)) : W(0);
      ds[r][c] = counts ? p[r][c] * (ds[r][c] - meeting) : W(0);
    }
  }
}

template <typename T, int kCols>
__global__ void __launch_bounds__(kTileThreads) AttentionQuerySlopes(const __grid_constant__ Call<T> call) {
  using W = Wide<T>;
  W* scores = static_cast<W*>(cuda::DynamicShared());
  W* stage = scores + kTile * kScorePitch;
  const Sizes& size = call.size;
  const Where at(blockIdx.x, call.tiles, size.heads);
  const int64_t key_head = at.head / (size.heads / size.key_heads), first_col = blockIdx.y * int64_t{kSide * kCols};
  const auto q = call.q.At(at.batch, at.head), k = call.k.At(at.batch, key_head), v = call.v.At(at.batch, key_head);
  const auto dy = call.dy.At(at.batch, at.head);
  const int64_t mask = call.masking.Offset(at.batch, at.head),
                head_row = (at.batch * size.heads + at.head) * size.queries;
  W sums[kOwn][kCols] = {};
  const int64_t visible = call.masking.Visible(min(size.queries, at.first + kTile));
  for (int64_t key = 0; key < visible; key += kTile) {
    W p[kOwn][kOwn], ds[kOwn][kOwn];
    Scores(p, stage, q, at.first, size.queries, k, key, size.keys, size.width, call.scale);
    Scores(ds, stage, dy, at.first, size.queries, v, key, size.keys, size.value_width, W(1));
    WeighTile(call, mask, head_row, at.first, key, p, ds);
    Spread(scores, ds);
    Gather<false>(sums, scores, stage, k, key, size.keys, first_col, size.width, W(1));
  }
  const W scale[kOwn] = {call.scale, call.scale, call.scale, call.scale};
  StoreRows(call.out.At(at.batch, at.head), at.first, size.queries, first_col, size.width, sums, scale);
}

/// A block has 64 keys of a key head, and all queries of the heads that share it.
template <typename T, int kCols>
__global__ void __launch_bounds__(kTileThreads) AttentionKeySlopes(const __grid_constant__ Call<T> call) {
  using W = Wide<T>;
  W* scores = static_cast<W*>(cuda::DynamicShared());
  W* stage = scores + kTile * kScorePitch;
  const Sizes& size = call.size;
  const Where at(blockIdx.x, call.tiles, size.key_heads);
  const int64_t sharing = size.heads / size.key_heads, first_col = blockIdx.y * int64_t{kSide * kCols};
  const auto k = call.k.At(at.batch, at.head), v = call.v.At(at.batch, at.head);
  W dk[kOwn][kCols] = {}, dv[kOwn][kCols] = {};
  for (int64_t head = at.head * sharing; head < (at.head + 1) * sharing; ++head) {
    const auto q = call.q.At(at.batch, head), dy = call.dy.At(at.batch, head);
    const int64_t mask = call.masking.Offset(at.batch, head), head_row = (at.batch * size.heads + head) * size.queries;
    for (int64_t query = call.masking.FirstQuery(at.first) / kTile * kTile; query < size.queries; query += kTile) {
      W p[kOwn][kOwn], ds[kOwn][kOwn];
      Scores(p, stage, q, query, size.queries, k, at.first, size.keys, size.width, call.scale);
      Scores(ds, stage, dy, query, size.queries, v, at.first, size.keys, size.value_width, W(1));
      WeighTile(call, mask, head_row, query, at.first, p, ds);
      Spread(scores, p);
      Gather<true>(dv, scores, stage, dy, query, size.queries, first_col, size.value_width, W(1));
      Spread(scores, ds);
      Gather<true>(dk, scores, stage, q, query, size.queries, first_col, size.width, call.scale);
    }
  }
  const W one[kOwn] = {W(1), W(1), W(1), W(1)};
  StoreRows(call.dk.At(at.batch, at.head), at.first, size.keys, first_col, size.width, dk, one);
  StoreRows(call.dv.At(at.batch, at.head), at.first, size.keys, first_col, size.value_width, dv, one);
}

/// Blocks for every tile of every head, and for every `kCols` * 16 columns of what they write.
template <typename T, int kCols>
cuda::Grid GridOf(int64_t heads, int64_t tiles, int64_t columns) {
  const int64_t chunks = std::max<int64_t>(1, (columns + kSide * kCols - 1) / (kSide * kCols));
  return {dim3(static_cast<unsigned>(heads * tiles), static_cast<unsigned>(chunks)), dim3(kTileThreads),
          kSharedElements<kCols> * sizeof(Wide<T>)};
}

inline int64_t TilesOf(int64_t count) { return (count + kTile - 1) / kTile; }

template <typename T, int kCols>
void LaunchForward(Context& ctx, Call<T> call) {
  call.tiles = TilesOf(call.size.queries);
  const cuda::Grid grid = GridOf<T, kCols>(call.size.batch * call.size.heads, call.tiles, call.size.value_width);
  cuda::Launch("attention", ctx, &AttentionForward<T, kCols>, grid, call);
}

template <typename T, int kCols>
void LaunchBackward(Context& ctx, Call<T> call) {
  const Sizes& size = call.size;
  call.tiles = TilesOf(size.queries);
  if (size.queries > 0 && size.heads > 0) {
    cuda::Launch("attention_backward", ctx, &AttentionQuerySlopes<T, kCols>,
                 GridOf<T, kCols>(size.batch * size.heads, call.tiles, size.width), call);
  }
  call.tiles = TilesOf(size.keys);
  if (size.keys == 0) return;
  cuda::Launch("attention_backward", ctx, &AttentionKeySlopes<T, kCols>,
               GridOf<T, kCols>(size.batch * size.key_heads, call.tiles, std::max(size.width, size.value_width)), call);
}

}  // namespace

template <typename T>
void Attention(Context& ctx, View y, View most, View log_sum, View q, View k, View v, View mask,
               const AttentionOptions& options) {
  using W = Wide<T>;
  if (most.numel == 0) return;
  if constexpr (kIsHalf<T>) {
    if (ForwardByVendor(ctx, {q, k, v, mask, y, most, log_sum, {}, {}, {}, {}}, options)) return;
  }
  Call<T> call(q, k, v, mask, options);
  call.out = Operand<T>(y);
  call.most = most.as<W>();
  call.log_sum = log_sum.as<W>();
  if constexpr (kIsHalf<T>) {
    if (ForwardByTensorCores(ctx, call)) return;
  }
  call.size.value_width > kTile ? LaunchForward<T, 8>(ctx, call) : LaunchForward<T, 4>(ctx, call);
}
DRAGON_KERNEL(Attention, Floating);

template <typename T>
void AttentionBackward(Context& ctx, View dq, View dk, View dv, View dy, View y, View most, View log_sum, View q,
                       View k, View v, View mask, const AttentionOptions& options) {
  using W = Wide<T>;
  if constexpr (kIsHalf<T>) {
    if (BackwardByVendor(ctx, {q, k, v, mask, y, most, log_sum, dy, dq, dk, dv}, options)) return;
  }
  Call<T> call(q, k, v, mask, options);
  if (call.size.batch * call.size.key_heads == 0) return;
  call.y = Operand<const T>(y);
  call.dy = Operand<const T>(dy);
  call.out = Operand<T>(dq);
  call.dk = Operand<T>(dk);
  call.dv = Operand<T>(dv);
  call.most = most.as<W>();
  call.log_sum = log_sum.as<W>();
  const Scratch meeting = ctx.Allocate<W>(most.numel);
  call.meeting = meeting.as<W>();
  if (most.numel > 0) {
    const cuda::Grid grid{dim3(rows::BlocksFor(most.numel, rows::kWarpBlock / cuda::kWarpThreads)),
                          dim3(rows::kWarpBlock)};
    cuda::Launch("attention_backward", ctx, &Meetings<T>, grid, call);
  }
  if constexpr (kIsHalf<T>) {
    if (BackwardByTensorCores(ctx, call)) return;
  }
  std::max(call.size.width, call.size.value_width) > kTile ? LaunchBackward<T, 8>(ctx, call)
                                                           : LaunchBackward<T, 4>(ctx, call);
}
DRAGON_KERNEL(AttentionBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
