// Attention by tiles of queries and keys with a running softmax.
// Dao et al., "FlashAttention: fast and memory-efficient exact attention with IO-awareness", NeurIPS 2022.
#include "core/kernels/attention.h"

#include <limits>

#include "core/device/parallel.h"
#include "core/kernels/attention/sizes.h"
#include "core/kernels/attention/tiles.h"
#include "core/kernels/libm.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Queries and keys of a tile of scores: its 100 KB stay in the second-level cache beside the keys' and values' blocks.
constexpr int64_t kQueries = 96, kKeys = 256;

template <typename W>
constexpr W kMinusInfinity = -std::numeric_limits<W>::infinity();

/// The matrix of one head.
template <typename T>
struct HeadMatrix {
  T* data;
  int64_t row, col;

  HeadMatrix(const View& x, int64_t batch, int64_t head)
      : data(x.as<T>() + batch * x.strides[0] + head * x.strides[1]), row(x.strides[2]), col(x.strides[3]) {}
};

/// to[i][j] = scale * x(first + i, j), converted; columns up to the padded width are zeros.
template <typename T, typename W>
void CopyRows(const HeadMatrix<T>& x, int64_t first, int64_t rows, int64_t cols, W scale, W* to, int64_t to_row) {
  for (int64_t i = 0; i < rows; ++i) {
    const T* from = x.data + (first + i) * x.row;
    W* line = to + i * to_row;
    if (x.col == 1) {
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) line[j] = scale * static_cast<W>(from[j]);
    } else {
      for (int64_t j = 0; j < cols; ++j) line[j] = scale * static_cast<W>(from[j * x.col]);
    }
    std::fill(line + cols, line + to_row, W(0));
  }
}

/// to[j][i] = x(i, j): keys side by side, so that scores are computed many keys at a time.
template <typename T, typename W>
void CopyTransposed(const HeadMatrix<T>& x, int64_t rows, int64_t cols, W* to, int64_t to_row) {
  constexpr int64_t kBlock = 16;  // a block of both sides stays in the first-level cache
  for (int64_t first = 0; first < rows; first += kBlock) {
    const int64_t last = std::min(first + kBlock, rows);
    for (int64_t j = 0; j < cols; ++j) {
      for (int64_t i = first; i < last; ++i) to[j * to_row + i] = static_cast<W>(x.data[i * x.row + j * x.col]);
    }
  }
  for (int64_t j = 0; j < cols; ++j) std::fill(to + j * to_row + rows, to + (j + 1) * to_row, W(0));
}

/// What a tile of scores is before the softmax: masked, and minus infinity beyond the last key.
template <typename T, typename W>
class Masking {
 public:
  Masking(const View& mask, bool causal, int64_t batch, int64_t head) : mask_(mask), causal_(causal) {
    if (mask) offset_ = batch * mask.strides[0] + head * mask.strides[1];
  }
  /// The number of leading keys that a block of queries may see at all.
  int64_t Visible(int64_t last_query, int64_t keys) const { return causal_ ? std::min(keys, last_query) : keys; }

  void Apply(W* scores, int64_t query, int64_t key, int64_t keys, int64_t padded) const {
    if (mask_) {
      const int64_t start = offset_ + query * mask_.strides[2] + key * mask_.strides[3], step = mask_.strides[3];
      if (mask_.dtype == DType::kBool) {
        const bool* seen = mask_.as<bool>() + start;
        for (int64_t j = 0; j < keys; ++j) scores[j] = seen[j * step] ? scores[j] : kMinusInfinity<W>;
      } else {
        const T* bias = mask_.as<T>() + start;
        for (int64_t j = 0; j < keys; ++j) scores[j] += static_cast<W>(bias[j * step]);
      }
    }
    const int64_t seen = causal_ ? std::clamp<int64_t>(query + 1 - key, 0, keys) : keys;
    std::fill(scores + seen, scores + padded, kMinusInfinity<W>);
  }

 private:
  const View& mask_;
  bool causal_;
  int64_t offset_ = 0;
};

/// The largest of x, whose length is a whole number of vectors; NaN is passed over.
template <typename W>
W RowMax(const W* x, int64_t n) {
  constexpr int kLanes = kBlockLanes<W>;
  W lanes[kLanes];
  std::fill(lanes, lanes + kLanes, kMinusInfinity<W>);
  for (int64_t i = 0; i < n; i += kLanes) {
#pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
  }
  W most = lanes[0];
  for (int lane = 1; lane < kLanes; ++lane) most = std::max(most, lanes[lane]);
  return most;
}

/// exp(x) to 2 ulp for x <= 0 in half the instructions of the general one; 0 below the smallest normal number.
DRAGON_FN float ExpOfNegative(float x) {
  constexpr float kLog2E = 1.44269504088896341f, kLn2High = 0.693145751953125f, kLn2Low = 1.42860682030941723e-6f;
  constexpr float kLowest = -87.0f;
  const float power = libm::Rint(x * kLog2E);
  const float rest = (x - power * kLn2High) - power * kLn2Low;
  float series = 1.0f / 5040;  // the exponential series up to rest^7: rest is at most ln(2) / 2
  series = series * rest + 1.0f / 720;
  series = series * rest + 1.0f / 120;
  series = series * rest + 1.0f / 24;
  series = series * rest + 1.0f / 6;
  series = series * rest + 0.5f;
  series = series * rest + 1.0f;
  series = series * rest + 1.0f;
  const float clamped = power >= -126.0f ? power : -126.0f;  // a NaN goes the second way
  const float scale = bits::Cast<float>((static_cast<int32_t>(clamped) + 127) << 23);
  return x < kLowest ? 0.0f : series * scale;
}
DRAGON_FN double ExpOfNegative(double x) { return libm::Exp(x); }

/// The largest score of a query, and log(sum(exp(score - most))) of all its scores.
template <typename W>
struct RowSums {
  W most, log_sum;
};

/// x = exp(x - most), where no x exceeds `most` by more than rounding; returns the sum.
template <typename W>
W ExpSum(W* x, int64_t n, W most) {
  W sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    const W e = ExpOfNegative(x[i] - most);
    x[i] = e;
    sum += e;
  }
  return sum;
}

/// Scores become the weights of a softmax whose sums are known.
template <typename W>
void Weigh(W* x, int64_t n, RowSums<W> sums) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) x[i] = ExpOfNegative((x[i] - sums.most) - sums.log_sum);
}

/// Blocks of nearly equal size, so that the last one is not a crumb.
int64_t EvenBlock(int64_t count, int64_t most) {
  const int64_t blocks = std::max<int64_t>(1, (count + most - 1) / most);
  return std::min(count, ((count + blocks - 1) / blocks + kBlockRows - 1) / kBlockRows * kBlockRows);
}

/// The forward pass of some blocks of queries against all keys of one head.
template <typename T>
class Forward {
 public:
  using W = Wide<T>;

  Forward(const Context& ctx, const Sizes& size, const AttentionOptions& options)
      : size_(size),
        scale_(static_cast<W>(options.scale)),
        unseen_(options.nan_if_unseen && size.keys > 0 ? std::numeric_limits<W>::quiet_NaN() : W(0)),
        key_row_(PaddedTo<W>(size.keys)),
        value_row_(PaddedTo<W>(size.value_width)),
        block_(EvenBlock(size.queries, kQueries)),
        keys_(ctx.Allocate<W>(size.width * key_row_)),
        values_(ctx.Allocate<W>(size.keys * value_row_)),
        q_(ctx.Allocate<W>(block_ * size.width)),
        scores_(ctx.Allocate<W>(block_ * kKeys)),
        sums_(ctx.Allocate<W>(block_ * value_row_)) {}

  void LoadHead(const View& k, const View& v, int64_t batch, int64_t head) {
    CopyTransposed(HeadMatrix<const T>(k, batch, head), size_.keys, size_.width, keys_.template as<W>(), key_row_);
    CopyRows(HeadMatrix<const T>(v, batch, head), 0, size_.keys, size_.value_width, W(1), values_.template as<W>(),
             value_row_);
  }

  void Block(const View& y, W* most, W* log_sum, const View& q, const Masking<T, W>& masking, int64_t batch,
             int64_t head, int64_t first) {
    const int64_t rows = std::min(block_, size_.queries - first);
    W *queries = q_.template as<W>(), *scores = scores_.template as<W>(), *sums = sums_.template as<W>();
    CopyRows(HeadMatrix<const T>(q, batch, head), first, rows, size_.width, scale_, queries, size_.width);
    std::fill(most_, most_ + rows, kMinusInfinity<W>);
    std::fill(total_, total_ + rows, W(0));
    std::fill(sums, sums + rows * value_row_, W(0));
    const int64_t visible = masking.Visible(first + rows, size_.keys);
    for (int64_t key = 0; key < visible; key += kKeys) {
      const int64_t count = std::min(kKeys, visible - key), padded = PaddedTo<W>(count);
      BlockProduct<W>(rows, padded, size_.width, queries, size_.width, 1, keys_.template as<W>() + key, key_row_,
                      scores, kKeys, /*add=*/false);
      for (int64_t i = 0; i < rows; ++i) Soften(scores + i * kKeys, i, first + i, key, count, padded, masking, sums);
      BlockProduct<W>(rows, value_row_, count, scores, kKeys, 1, values_.template as<W>() + key * value_row_,
                      value_row_, sums, value_row_, /*add=*/true);
    }
    const HeadMatrix<T> to(y, batch, head);
    for (int64_t i = 0; i < rows; ++i) {
      // A query that saw nothing has a total of 0.
      const W part = total_[i] == 0 ? unseen_ : W(1) / total_[i];
      for (int64_t j = 0; j < size_.value_width; ++j) {
        to.data[(first + i) * to.row + j * to.col] = static_cast<T>(sums[i * value_row_ + j] * part);
      }
      most[first + i] = most_[i];
      log_sum[first + i] = libm::Log(total_[i]);
    }
  }
  int64_t block() const { return block_; }

 private:
  /// Turn one row of scores into weights relative to the largest score so far, and rescale what was summed before.
  void Soften(W* row, int64_t i, int64_t query, int64_t key, int64_t count, int64_t padded,
              const Masking<T, W>& masking, W* sums) {
    masking.Apply(row, query, key, count, padded);
    const W most = std::max(most_[i], RowMax(row, padded));
    if (most == kMinusInfinity<W>) {
      // Nothing seen yet; NaN scores compare false above and must not vanish.
      W sum = 0;
      for (int64_t j = 0; j < count; ++j) row[j] = row[j] != row[j] ? row[j] : W(0), sum += row[j];
      total_[i] += sum;
      return;
    }
    const W shrink = libm::Exp(most_[i] - most);
    total_[i] = total_[i] * shrink + ExpSum(row, padded, most);
    most_[i] = most;
    if (shrink == 1) return;
    W* line = sums + i * value_row_;
#pragma omp simd
    for (int64_t j = 0; j < value_row_; ++j) line[j] *= shrink;
  }

  const Sizes& size_;
  const W scale_, unseen_;
  const int64_t key_row_, value_row_, block_;
  Scratch keys_, values_, q_, scores_, sums_;
  W most_[kQueries], total_[kQueries];
};

}  // namespace

template <typename T>
void Attention(Context& ctx, View y, View most, View log_sum, View q, View k, View v, View mask,
               const AttentionOptions& options) {
  using W = Wide<T>;
  if (y.numel == 0 && most.numel == 0) return;
  const Sizes size(q, k, v);
  const int64_t heads = size.batch * size.heads, block = EvenBlock(size.queries, kQueries);
  const int64_t blocks = (size.queries + block - 1) / block;
  const double work = 1.0 * heads * size.queries * (size.keys + 1) * (size.width + size.value_width);
  const int64_t grain =
      std::max<int64_t>(1, static_cast<int64_t>(heads * blocks * (20 * kGrain / std::max(work, 1.0))));
  ParallelFor(heads * blocks, grain, [&](int64_t begin, int64_t end) {
    Forward<T> forward(ctx, size, options);
    int64_t loaded = -1;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t head = i / blocks % size.heads, batch = i / blocks / size.heads;
      const int64_t key_head = head / size.sharing();
      if (loaded != batch * size.key_heads + key_head) forward.LoadHead(k, v, batch, key_head);
      loaded = batch * size.key_heads + key_head;
      const int64_t row = (batch * size.heads + head) * size.queries;
      const Masking<T, W> masking(mask, options.causal, batch, head);
      forward.Block(y, most.as<W>() + row, log_sum.as<W>() + row, q, masking, batch, head, i % blocks * block);
    }
  });
}

namespace {

/// Backward for one key head and some of the blocks of its queries; dk and dv gather in `dk`, `dv` (keys x padded
/// width).
template <typename T>
class Backward {
 public:
  using W = Wide<T>;

  Backward(const Context& ctx, const Sizes& size, const AttentionOptions& options)
      : size_(size),
        scale_(static_cast<W>(options.scale)),
        nan_if_unseen_(options.nan_if_unseen),
        key_row_(PaddedTo<W>(size.keys)),
        row_(PaddedTo<W>(size.width)),
        value_row_(PaddedTo<W>(size.value_width)),
        block_(EvenBlock(size.queries, kQueries)),
        keys_t_(ctx.Allocate<W>(size.width * key_row_)),
        values_t_(ctx.Allocate<W>(size.value_width * key_row_)),
        keys_(ctx.Allocate<W>(size.keys * row_)),
        q_(ctx.Allocate<W>(block_ * row_)),
        dy_(ctx.Allocate<W>(block_ * value_row_)),
        dq_(ctx.Allocate<W>(block_ * row_)),
        weights_(ctx.Allocate<W>(block_ * kKeys)),
        dscores_(ctx.Allocate<W>(block_ * kKeys)) {}

  void LoadHead(const View& k, const View& v, int64_t batch, int64_t head) {
    const HeadMatrix<const T> keys(k, batch, head), values(v, batch, head);
    CopyTransposed(keys, size_.keys, size_.width, keys_t_.template as<W>(), key_row_);
    CopyTransposed(values, size_.keys, size_.value_width, values_t_.template as<W>(), key_row_);
    CopyRows(keys, 0, size_.keys, size_.width, W(1), keys_.template as<W>(), row_);
  }

  void Block(const View& dq, W* dk, W* dv, const View& dy, const View& y, const W* most, const W* log_sum,
             const View& q, const Masking<T, W>& masking, int64_t batch, int64_t head, int64_t first) {
    const int64_t rows = std::min(block_, size_.queries - first);
    W *queries = q_.template as<W>(), *grads = dy_.template as<W>(), *to_queries = dq_.template as<W>();
    W *weights = weights_.template as<W>(), *dscores = dscores_.template as<W>();
    CopyRows(HeadMatrix<const T>(q, batch, head), first, rows, size_.width, scale_, queries, row_);
    CopyRows(HeadMatrix<const T>(dy, batch, head), first, rows, size_.value_width, W(1), grads, value_row_);
    Meetings(HeadMatrix<const T>(y, batch, head), grads, first, rows);
    std::fill(to_queries, to_queries + rows * row_, W(0));
    const int64_t visible = masking.Visible(first + rows, size_.keys);
    for (int64_t key = 0; key < visible; key += kKeys) {
      const int64_t count = std::min(kKeys, visible - key), padded = PaddedTo<W>(count);
      BlockProduct<W>(rows, padded, size_.width, queries, row_, 1, keys_t_.template as<W>() + key, key_row_, weights,
                      kKeys, /*add=*/false);
      BlockProduct<W>(rows, padded, size_.value_width, grads, value_row_, 1, values_t_.template as<W>() + key, key_row_,
                      dscores, kKeys, /*add=*/false);
      for (int64_t i = 0; i < rows; ++i) {
        W* row = weights + i * kKeys;
        masking.Apply(row, first + i, key, count, padded);
        Weigh(row, padded, SumsOf(most[first + i], log_sum[first + i]));
        W* drow = dscores + i * kKeys;
        const W meeting = meeting_[i];
#pragma omp simd
        for (int64_t j = 0; j < padded; ++j) drow[j] = row[j] * (drow[j] - meeting);
      }
      BlockProduct<W>(count, value_row_, rows, weights, 1, kKeys, grads, value_row_, dv + key * value_row_, value_row_,
                      /*add=*/true);
      // The queries carry the scale, so dk comes out scaled; dq is scaled at the end.
      BlockProduct<W>(count, row_, rows, dscores, 1, kKeys, queries, row_, dk + key * row_, row_, /*add=*/true);
      BlockProduct<W>(rows, row_, count, dscores, kKeys, 1, keys_.template as<W>() + key * row_, row_, to_queries, row_,
                      /*add=*/true);
    }
    const HeadMatrix<T> to(dq, batch, head);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < size_.width; ++j) {
        to.data[(first + i) * to.row + j * to.col] = static_cast<T>(scale_ * to_queries[i * row_ + j]);
      }
    }
  }
  int64_t block() const { return block_; }
  int64_t key_floats() const { return size_.keys * row_; }
  int64_t value_floats() const { return size_.keys * value_row_; }
  int64_t row() const { return row_; }
  int64_t value_row() const { return value_row_; }

 private:
  /// A query that saw nothing has no largest score; its weights are all 0, or all NaN.
  RowSums<W> SumsOf(W most, W log_sum) const {
    if (most != kMinusInfinity<W>) return {most, log_sum};
    return {nan_if_unseen_ || log_sum != log_sum ? std::numeric_limits<W>::quiet_NaN() : -kMinusInfinity<W>, W(0)};
  }
  /// sum over j of dy[i][j] * y[i][j]: what the softmax takes off each weight's gradient.
  void Meetings(const HeadMatrix<const T>& y, const W* grads, int64_t first, int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) {
      W sum = 0;
      const T* line = y.data + (first + i) * y.row;
      for (int64_t j = 0; j < size_.value_width; ++j)
        sum += grads[i * value_row_ + j] * static_cast<W>(line[j * y.col]);
      meeting_[i] = sum;
    }
  }

  const Sizes& size_;
  const W scale_;
  const bool nan_if_unseen_;
  const int64_t key_row_, row_, value_row_, block_;
  Scratch keys_t_, values_t_, keys_, q_, dy_, dq_, weights_, dscores_;
  W meeting_[kQueries];
};

template <typename T, typename W>
void StoreHead(const View& to, int64_t batch, int64_t head, const W* sums, int64_t row, int64_t parts, int64_t part) {
  const HeadMatrix<T> matrix(to, batch, head);
  for (int64_t i = 0; i < to.shape[2]; ++i) {
    for (int64_t j = 0; j < to.shape[3]; ++j) {
      W sum = 0;
      for (int64_t p = 0; p < parts; ++p) sum += sums[p * part + i * row + j];
      matrix.data[i * matrix.row + j * matrix.col] = static_cast<T>(sum);
    }
  }
}

}  // namespace

template <typename T>
void AttentionBackward(Context& ctx, View dq, View dk, View dv, View dy, View y, View most, View log_sum, View q,
                       View k, View v, View mask, const AttentionOptions& options) {
  using W = Wide<T>;
  const Sizes size(q, k, v);
  const int64_t key_heads = size.batch * size.key_heads;
  if (key_heads == 0) return;
  const int64_t row = PaddedTo<W>(size.width), value_row = PaddedTo<W>(size.value_width);
  const int64_t block = std::max<int64_t>(1, EvenBlock(size.queries, kQueries));
  const int64_t blocks = (size.queries + block - 1) / block * size.sharing();
  // Few heads and many threads: the queries of a head are shared out, each share with its own sums of dk and dv.
  const int64_t shares = std::clamp<int64_t>(NumThreads() / key_heads, 1, std::max<int64_t>(blocks, 1));
  const int64_t part = size.keys * (row + value_row);
  const Scratch all_sums = ctx.Allocate<W>(key_heads * shares * part);
  ParallelFor(key_heads * shares, 1, [&](int64_t begin, int64_t end) {
    Backward<T> backward(ctx, size, options);
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t batch = piece / shares / size.key_heads, key_head = piece / shares % size.key_heads;
      const int64_t share = piece % shares;
      W *dk_sums = all_sums.as<W>() + piece * part, *dv_sums = dk_sums + size.keys * row;
      std::fill(dk_sums, dk_sums + part, W(0));
      backward.LoadHead(k, v, batch, key_head);
      for (int64_t i = blocks * share / shares; i < blocks * (share + 1) / shares; ++i) {
        const int64_t per_head = blocks / size.sharing(), head = key_head * size.sharing() + i / per_head;
        const int64_t at = (batch * size.heads + head) * size.queries;
        const Masking<T, W> masking(mask, options.causal, batch, head);
        backward.Block(dq, dk_sums, dv_sums, dy, y, most.as<const W>() + at, log_sum.as<const W>() + at, q, masking,
                       batch, head, i % per_head * block);
      }
    }
  });
  ParallelFor(key_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / size.key_heads, head = i % size.key_heads;
      const W* sums = all_sums.as<W>() + i * shares * part;
      StoreHead<T, W>(dk, batch, head, sums, row, shares, part);
      StoreHead<T, W>(dv, batch, head, sums + size.keys * row, value_row, shares, part);
    }
  });
}

DRAGON_KERNEL(Attention, Floating);
DRAGON_KERNEL(AttentionBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
