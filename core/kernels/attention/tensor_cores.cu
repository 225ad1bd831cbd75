// Attention on tensor cores: a warp has sixteen rows of a tile of 64, in the layouts of warp_matrix.h. Scores leave one
// product in the registers in which the next one wants them; only operands pass through shared memory.
#include "core/device/cuda/capability.h"
#include "core/device/cuda/launch.h"
#include "core/device/cuda/warp_matrix.h"
#include "core/kernels/attention/tensor_cores.h"

namespace dragon::DRAGON_DEVICE::attention {

namespace {

using cuda::kAllLanes;

inline constexpr int kRows = 64, kWarps = 4, kThreadsOfTile = kWarps * 32;
inline constexpr float kLog2E = 1.44269504088896341f;

/// Rows of shared memory are sixteen bytes longer than what they hold: eight rows then begin in different banks.
template <int kWidth>
inline constexpr int kPitch = kWidth + 8;

/// e^x to the precision that 16-bit weights have.
__device__ __forceinline__ float FastExp(float x) { return cuda::Exp2(x * kLog2E); }

/// Copy kCount rows from `first` on to shared memory, zeros beyond the rows and columns there are.
template <int kCount, int kWidth, typename T>
__device__ __forceinline__ void CopyTile(T* to, const Matrix<const T>& x, int64_t first, int64_t rows, int64_t cols) {
  constexpr int kPacks = kWidth / 8;
#pragma unroll
  for (int i = threadIdx.x; i < kCount * kPacks; i += kThreadsOfTile) {
    const int r = i / kPacks, c = i % kPacks * 8;
    const bool there = first + r < rows && c < cols;
    cuda::CopyAsync(to + r * kPitch<kWidth> + c, there ? x.data + (first + r) * x.row + c : x.data, there);
  }
}

/// Sixteen rows and columns of a left operand that lies in shared memory.
template <int kWidth, typename T>
__device__ __forceinline__ void LoadLeft(uint32_t (&a)[4], const T* tile, int row, int col) {
  const int lane = threadIdx.x % 32;
  cuda::LoadMatrices(a, tile + (row + lane % 16) * kPitch<kWidth> + col + lane / 16 * 8);
}

/// acc (16 rows x kOthers) = the warp's rows of `left` times the transpose of `right`, over kWidth columns.
template <int kOthers, int kWidth, typename T>
__device__ __forceinline__ void ProductOfRows(float (&acc)[kOthers / 8][4], const T* left, int row, const T* right) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int n = 0; n < kOthers / 8; ++n) {
#pragma unroll
    for (int i = 0; i < 4; ++i) acc[n][i] = 0.0f;
  }
#pragma unroll
  for (int k = 0; k < kWidth; k += 16) {
    uint32_t a[4];
    LoadLeft<kWidth>(a, left, row, k);
#pragma unroll
    for (int n = 0; n < kOthers; n += 16) {
      uint32_t b[4];
      cuda::LoadMatrices(b, right + (n + lane / 16 * 8 + lane % 8) * kPitch<kWidth> + k + lane / 8 % 2 * 8);
      cuda::MultiplyAdd<T>(acc[n / 8], a, b[0], b[1]);
      cuda::MultiplyAdd<T>(acc[n / 8 + 1], a, b[2], b[3]);
    }
  }
}

/// acc (16 rows x kWidth) += weights (16 x kOthers), as ProductOfRows left them, times `right` (kOthers x kWidth).
template <int kOthers, int kWidth, typename T>
__device__ __forceinline__ void AddProduct(float (&acc)[kWidth / 8][4], const float (&weights)[kOthers / 8][4],
                                           const T* right) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < kOthers; k += 16) {
    const float (&low)[4] = weights[k / 8], (&high)[4] = weights[k / 8 + 1];
    const uint32_t a[4] = {cuda::PackPair<T>(low[0], low[1]), cuda::PackPair<T>(low[2], low[3]),
                           cuda::PackPair<T>(high[0], high[1]), cuda::PackPair<T>(high[2], high[3])};
#pragma unroll
    for (int n = 0; n < kWidth; n += 16) {
      uint32_t b[4];
      cuda::LoadTransposed(b, right + (k + lane % 16) * kPitch<kWidth> + n + lane / 16 * 8);
      cuda::MultiplyAdd<T>(acc[n / 8], a, b[0], b[1]);
      cuda::MultiplyAdd<T>(acc[n / 8 + 1], a, b[2], b[3]);
    }
  }
}

/// x(first + i, j) = scale * acc for the warp's sixteen rows, two neighbours at a time.
template <int kWidth, typename T>
__device__ __forceinline__ void StoreTile(const Matrix<T>& x, int64_t first, int64_t rows, int64_t cols,
                                          const float (&acc)[kWidth / 8][4], const float (&scale)[2]) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int64_t row = first + threadIdx.x / 32 * 16 + g + 8 * half;
    if (row >= rows) continue;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
      const int col = n * 8 + t * 2;
      if (col >= cols) break;
      const uint32_t pair = cuda::PackPair<T>(acc[n][2 * half] * scale[half], acc[n][2 * half + 1] * scale[half]);
      *reinterpret_cast<uint32_t*>(x.data + row * x.row + col) = pair;
    }
  }
}

/// Two rows of every thread's, whose softmax is put together as keys come by.
template <typename T, int kWidth>
struct OnlineRows {
  static constexpr int kKeys = 64;
  float sums[kWidth / 8][4] = {}, most[2], total[2] = {0.0f, 0.0f};

  __device__ __forceinline__ OnlineRows() { most[0] = most[1] = -std::numeric_limits<float>::infinity(); }

  /// Products of rows and keys become weights; what was summed up so far shrinks to the highest score of all.
  __device__ __forceinline__ void Weigh(const Call<T>& call, int64_t mask, int64_t first, int64_t key,
                                        float (&scores)[kKeys / 8][4]) {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, column = lane % 4 * 2;
    const bool whole = !call.masking.data && key + kKeys <= call.size.keys && first + kRows <= call.size.queries &&
                       (!call.masking.causal || key + kKeys <= first + 1);
    float highest[2] = {most[0], most[1]};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float score = scores[n][i] * call.scale;
        if (!whole) score = call.masking.Apply(score, mask, first + row + i / 2 * 8, key + n * 8 + column + i % 2);
        scores[n][i] = score;
        highest[i / 2] = score > highest[i / 2] ? score : highest[i / 2];  // NaN is passed over, and kept by the sum
      }
    }
    Shrink(highest);
    const float never = -std::numeric_limits<float>::infinity();
    const float base[2] = {most[0] == never ? 0.0f : most[0], most[1] == never ? 0.0f : most[1]};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) total[i / 2] += scores[n][i] = FastExp(scores[n][i] - base[i / 2]);
    }
  }

  __device__ __forceinline__ void Shrink(float (&highest)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int bits = 1; bits < 4; bits *= 2) {
        highest[half] = fmaxf(highest[half], __shfl_xor_sync(kAllLanes, highest[half], bits));
      }
      const float shrink = highest[half] == most[half] ? 1.0f : FastExp(most[half] - highest[half]);
      most[half] = highest[half];
      total[half] *= shrink;
#pragma unroll
      for (int n = 0; n < kWidth / 8; ++n) sums[n][2 * half] *= shrink, sums[n][2 * half + 1] *= shrink;
    }
  }

  /// Write the rows, and what their gradients will need of the softmax.
  __device__ __forceinline__ void Finish(const Call<T>& call, int64_t batch, int64_t head, int64_t first) {
    const Sizes& size = call.size;
    const int lane = threadIdx.x % 32;
    const float unseen = call.nan_if_unseen && size.keys > 0 ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
    float part[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int bits = 1; bits < 4; bits *= 2) total[half] += __shfl_xor_sync(kAllLanes, total[half], bits);
      part[half] = total[half] == 0.0f ? unseen : 1.0f / total[half];
      const int64_t row = first + threadIdx.x / 32 * 16 + lane / 4 + 8 * half;
      if (lane % 4 > 0 || row >= size.queries) continue;
      const int64_t at = (batch * size.heads + head) * size.queries + row;
      call.most[at] = most[half];
      call.log_sum[at] = rows::Log(total[half]);
    }
    StoreTile<kWidth>(call.out.At(batch, head), first, size.queries, size.value_width, sums, part);
  }
};

template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreadsOfTile) TensorForward(const __grid_constant__ Call<T> call) {
  constexpr int kKeys = OnlineRows<T, kWidth>::kKeys, kTileElements = kKeys * kPitch<kWidth>;
  T* q_tile = static_cast<T*>(cuda::DynamicShared());
  T* stages = q_tile + kRows * kPitch<kWidth>;  // keys and values, twice: one pair arrives while the other is used
  const Sizes& size = call.size;
  const int64_t tile = call.tiles - 1 - blockIdx.x % call.tiles, head = blockIdx.x / call.tiles % size.heads;
  const int64_t batch = blockIdx.x / call.tiles / size.heads, first = tile * kRows;
  const int64_t key_head = head / (size.heads / size.key_heads), mask = call.masking.Offset(batch, head);
  const auto q = call.q.At(batch, head), k = call.k.At(batch, key_head), v = call.v.At(batch, key_head);
  const int64_t visible = call.masking.Visible(min(size.queries, first + kRows));
  OnlineRows<T, kWidth> rows;

  const auto bring = [&](int64_t key) {
    T* to = stages + key / kKeys % 2 * 2 * kTileElements;
    CopyTile<kKeys, kWidth>(to, k, key, size.keys, size.width);
    CopyTile<kKeys, kWidth>(to + kTileElements, v, key, size.keys, size.value_width);
  };
  CopyTile<kRows, kWidth>(q_tile, q, first, size.queries, size.width);
  if (visible > 0) bring(0);
  cuda::EndCopies();
  for (int64_t key = 0; key < visible; key += kKeys) {
    if (key + kKeys < visible) bring(key + kKeys);
    cuda::EndCopies();
    cuda::AwaitCopies<1>();
    __syncthreads();
    const T* keys = stages + key / kKeys % 2 * 2 * kTileElements;
    float scores[kKeys / 8][4];
    ProductOfRows<kKeys, kWidth>(scores, q_tile, threadIdx.x / 32 * 16, keys);
    rows.Weigh(call, mask, first, key, scores);
    AddProduct<kKeys, kWidth>(rows.sums, scores, keys + kTileElements);
    __syncthreads();  // this stage has been read
  }
  rows.Finish(call, batch, head, first);
}

/// What the softmax of a query is made of, and what comes off its weights' gradients.
struct QuerySums {
  float most = 0.0f, log_sum = 0.0f, meeting = 0.0f;

  QuerySums() = default;
  template <typename T>
  __device__ __forceinline__ QuerySums(const Call<T>& call, int64_t head_row, int64_t query) {
    if (query >= call.size.queries) return;
    const RowSums<float> sums(call.most[head_row + query], call.log_sum[head_row + query], call.nan_if_unseen);
    most = sums.most;
    log_sum = sums.log_sum;
    meeting = call.meeting[head_row + query];
  }
};

/// Gradients by blocks of 64 rows that stay, and tiles of others that pass by. Rows are keys and others queries where
/// kKeys, which gives dk and dv; else rows are queries and others keys, which gives dq.
template <typename T, int kWidth, bool kKeys>
struct Backward {
  static constexpr int kOthers = kWidth > 64 ? 32 : 64;
  static constexpr int kRowElements = kRows * kPitch<kWidth>, kOtherElements = kOthers * kPitch<kWidth>;
  static constexpr size_t kShared =
      size_t{2 * kRowElements + 2 * kOtherElements} * sizeof(T) + kOthers * sizeof(QuerySums);
  using Scores = float[kOthers / 8][4];

  /// Scores become weights, and gradients of weights those of scores; sums are of a lane's two rows, or of all others.
  static __device__ __forceinline__ void Weigh(const Call<T>& call, int64_t mask, int64_t first, int64_t other,
                                               const QuerySums* sums, Scores& p, Scores& ds) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const Sizes& size = call.size;
    const int64_t first_query = kKeys ? other : first, first_key = kKeys ? first : other;
    const int64_t last_query = first_query + (kKeys ? kOthers : kRows),
                  last_key = first_key + (kKeys ? kRows : kOthers);
    const bool whole = !call.masking.data && last_query <= size.queries && last_key <= size.keys &&
                       (!call.masking.causal || last_key <= first_query + 1);
#pragma unroll
    for (int n = 0; n < kOthers / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = warp * 16 + g + i / 2 * 8, column = n * 8 + t * 2 + i % 2;
        const QuerySums of_query = sums[kKeys ? column : i / 2];
        float score = p[n][i] * call.scale;
        bool counts = true;  // beyond the edge a weight of NaN would spoil the others
        if (!whole) {
          const int64_t query = first_query + (kKeys ? column : row), key = first_key + (kKeys ? row : column);
          counts = query < size.queries && key < size.keys;
          score = call.masking.Apply(score, mask, query, key);
        }
        const float weight = counts ? FastExp((score - of_query.most) - of_query.log_sum) : 0.0f;
        p[n][i] = weight;
        ds[n][i] = counts ? weight * (ds[n][i] - of_query.meeting) : 0.0f;
      }
    }
  }
};

template <typename T, int kWidth, bool kKeys>
__global__ void __launch_bounds__(kThreadsOfTile) TensorBackward(const __grid_constant__ Call<T> call) {
  using B = Backward<T, kWidth, kKeys>;
  constexpr int kOthers = B::kOthers;
  T* of_rows = static_cast<T*>(cuda::DynamicShared());  // q and dy, or k and v
  T* of_others = of_rows + 2 * B::kRowElements;         // the two others, of the tile that passes by
  auto* shared_sums = reinterpret_cast<QuerySums*>(of_others + 2 * B::kOtherElements);
  const Sizes& size = call.size;
  const int64_t heads = kKeys ? size.key_heads : size.heads, sharing = size.heads / size.key_heads;
  const int64_t first = blockIdx.x % call.tiles * kRows, own = blockIdx.x / call.tiles % heads;
  const int64_t batch = blockIdx.x / call.tiles / heads, key_head = kKeys ? own : own / sharing;
  const int64_t row_count = kKeys ? size.keys : size.queries, other_count = kKeys ? size.queries : size.keys;
  const auto k = call.k.At(batch, key_head), v = call.v.At(batch, key_head);
  const int warp = threadIdx.x / 32, row = warp * 16 + threadIdx.x % 32 / 4;
  float slopes[kWidth / 8][4] = {}, values[kKeys ? kWidth / 8 : 1][4] = {};

  const int64_t last_head = kKeys ? (own + 1) * sharing : own + 1;
  for (int64_t head = kKeys ? own * sharing : own; head < last_head; ++head) {
    const auto q = call.q.At(batch, head), dy = call.dy.At(batch, head);
    const int64_t mask = call.masking.Offset(batch, head), head_row = (batch * size.heads + head) * size.queries;
    QuerySums row_sums[2];
    if (!kKeys)
      row_sums[0] = QuerySums(call, head_row, first + row), row_sums[1] = QuerySums(call, head_row, first + row + 8);
    CopyTile<kRows, kWidth>(of_rows, kKeys ? k : q, first, row_count, size.width);
    CopyTile<kRows, kWidth>(of_rows + B::kRowElements, kKeys ? v : dy, first, row_count, size.value_width);
    const int64_t start = kKeys ? call.masking.FirstQuery(first) / kOthers * kOthers : 0;
    const int64_t end = kKeys ? size.queries : call.masking.Visible(min(size.queries, first + kRows));
    for (int64_t other = start; other < end; other += kOthers) {
      CopyTile<kOthers, kWidth>(of_others, kKeys ? q : k, other, other_count, size.width);
      CopyTile<kOthers, kWidth>(of_others + B::kOtherElements, kKeys ? dy : v, other, other_count, size.value_width);
      cuda::EndCopies();
      if (kKeys && threadIdx.x < kOthers) shared_sums[threadIdx.x] = QuerySums(call, head_row, other + threadIdx.x);
      cuda::AwaitCopies<0>();
      __syncthreads();
      float p[kOthers / 8][4], ds[kOthers / 8][4];
      ProductOfRows<kOthers, kWidth>(p, of_rows, warp * 16, of_others);
      ProductOfRows<kOthers, kWidth>(ds, of_rows + B::kRowElements, warp * 16, of_others + B::kOtherElements);
      B::Weigh(call, mask, first, other, kKeys ? shared_sums : row_sums, p, ds);
      AddProduct<kOthers, kWidth>(slopes, ds, of_others);
      if constexpr (kKeys) AddProduct<kOthers, kWidth>(values, p, of_others + B::kOtherElements);
      __syncthreads();  // the tile has been read
    }
    cuda::EndCopies();
    cuda::AwaitCopies<0>();  // of a head whose queries see none of these keys
  }
  const float scale[2] = {call.scale, call.scale}, one[2] = {1.0f, 1.0f};
  StoreTile<kWidth>((kKeys ? call.dk : call.out).At(batch, own), first, row_count, size.width, slopes, scale);
  if constexpr (kKeys) StoreTile<kWidth>(call.dv.At(batch, own), first, row_count, size.value_width, values, one);
}

/// Rows that begin at multiples of sixteen bytes and have no gaps within.
template <typename T>
bool Takes(const Operand<T>& x, int64_t width) {
  if (!x.data) return true;
  return (x.strides[3] == 1 || width == 1) && x.strides[0] % 8 == 0 && x.strides[1] % 8 == 0 && x.strides[2] % 8 == 0 &&
         rows::Aligned(x.data);
}

template <typename T>
bool Takes(const Context& ctx, const Call<T>& call) {
  const Sizes& size = call.size;
  return cuda::CapabilityOf(ctx.device.index) >= cuda::kWithWarpMatrices && size.width > 0 && size.width <= 128 &&
         size.width % 8 == 0 && size.value_width > 0 && size.value_width <= 128 && size.value_width % 8 == 0 &&
         size.keys > 0 && size.queries > 0 && Takes(call.q, size.width) && Takes(call.k, size.width) &&
         Takes(call.v, size.value_width) && Takes(call.dy, size.value_width) &&
         Takes(call.out, call.dy.data ? size.width : size.value_width) && Takes(call.dk, size.width) &&
         Takes(call.dv, size.value_width);
}

inline int64_t TilesOf(int64_t count) { return (count + kRows - 1) / kRows; }

template <typename T, int kWidth>
void LaunchForward(Context& ctx, Call<T> call) {
  call.tiles = TilesOf(call.size.queries);
  const size_t shared = size_t{kRows + 4 * 64} * kPitch<kWidth> * sizeof(T);
  const auto blocks = static_cast<unsigned>(call.size.batch * call.size.heads * call.tiles);
  cuda::Launch("attention", ctx, &TensorForward<T, kWidth>, {dim3(blocks), dim3(kThreadsOfTile), shared}, call);
}

template <typename T, int kWidth, bool kKeys>
void LaunchBackward(Context& ctx, Call<T> call) {
  const Sizes& size = call.size;
  call.tiles = TilesOf(kKeys ? size.keys : size.queries);
  const auto blocks = static_cast<unsigned>(size.batch * (kKeys ? size.key_heads : size.heads) * call.tiles);
  cuda::Launch("attention_backward", ctx, &TensorBackward<T, kWidth, kKeys>,
               {dim3(blocks), dim3(kThreadsOfTile), Backward<T, kWidth, kKeys>::kShared}, call);
}

}  // namespace

template <typename T>
bool ForwardByTensorCores(Context& ctx, const Call<T>& call) {
  if (!Takes(ctx, call)) return false;
  const bool narrow = std::max(call.size.width, call.size.value_width) <= 64;
  narrow ? LaunchForward<T, 64>(ctx, call) : LaunchForward<T, 128>(ctx, call);
  return true;
}

template <typename T>
bool BackwardByTensorCores(Context& ctx, const Call<T>& call) {
  if (!Takes(ctx, call)) return false;
  const bool narrow = std::max(call.size.width, call.size.value_width) <= 64;
  narrow ? LaunchBackward<T, 64, false>(ctx, call) : LaunchBackward<T, 128, false>(ctx, call);
  narrow ? LaunchBackward<T, 64, true>(ctx, call) : LaunchBackward<T, 128, true>(ctx, call);
  return true;
}

template bool ForwardByTensorCores(Context&, const Call<float16>&);
template bool ForwardByTensorCores(Context&, const Call<bfloat16>&);
template bool BackwardByTensorCores(Context&, const Call<float16>&);
template bool BackwardByTensorCores(Context&, const Call<bfloat16>&);

}  // namespace dragon::DRAGON_DEVICE::attention
