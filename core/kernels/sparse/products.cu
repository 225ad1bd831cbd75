// Products of two matrices in compressed rows on CUDA: all pairs of numbers that meet are listed, brought in the order
// of their row and column, and equal places are summed in the order of the pairs, as on the CPU. Listing them takes
// twelve bytes a pair at least, but no row of the product needs memory for all columns.
#include "core/device/cuda/fetch.h"
#include "core/kernels/sparse/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {
namespace {

/// Number k of the one matrix meets all numbers of the row of the other that its place names; `before` counts the pairs
/// of the numbers before it.
struct Pairs {
  CompressedRows matrix, other;
  const int64_t* before;

  __device__ void Find(int64_t pair, int64_t* k, int64_t* l) const {
    int64_t low = 0, high = matrix.count;  // the last number that has as many pairs before it, or fewer
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (before[middle] <= pair ? low : high) = middle;
    }
    int64_t begin, end;
    other.Row(matrix.places[low], &begin, &end);
    *k = low, *l = begin + pair - before[low];
  }
};

struct CountPairs {
  CompressedRows matrix, other;
  int64_t* counts;
  __device__ void operator()(int64_t k) const {
    int64_t begin = 0, end = 0;
    if (matrix.Has(matrix.places[k])) other.Row(matrix.places[k], &begin, &end);
    counts[k] = end - begin;
  }
};

struct KeyByColumn {
  Pairs pairs;
  uint32_t* keys;
  __device__ void operator()(int64_t i) const {
    int64_t k, l;
    pairs.Find(i, &k, &l);
    const int64_t place = pairs.other.places[l];
    keys[i] = static_cast<uint32_t>(pairs.other.Has(place) ? place : pairs.other.size);
  }
};

/// Pairs by rising columns, keyed by their rows; those of no column go to a row behind the last.
struct KeyByRow {
  Pairs pairs;
  const uint32_t *columns, *order;
  uint32_t* keys;
  __device__ void operator()(int64_t i) const {
    int64_t k, l;
    pairs.Find(order[i], &k, &l);
    keys[i] = static_cast<uint32_t>(columns[i] < pairs.other.size ? pairs.matrix.RowOf(k) : pairs.matrix.rows);
  }
};

/// Pairs by rising rows and columns: whether each is the first at its place.
struct MarkFirst {
  Pairs pairs;
  const uint32_t *rows, *order;
  int64_t* marks;
  __device__ int64_t Column(int64_t i) const {
    int64_t k, l;
    pairs.Find(order[i], &k, &l);
    return pairs.other.places[l];
  }
  __device__ void operator()(int64_t i) const {
    marks[i] = rows[i] < pairs.matrix.rows && (i == 0 || rows[i - 1] != rows[i] || Column(i - 1) != Column(i));
  }
};

/// A product row starts where the first pair of its row, or of a later one, stands among the firsts.
struct StartRow {
  const uint32_t* rows;
  const int64_t* marks;
  int64_t count;
  int64_t* starts;
  __device__ void operator()(int64_t row) const {
    int64_t low = 0, high = count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (rows[middle] < row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    starts[row] = marks[low];
  }
};

template <typename T>
struct SumPairs {
  MarkFirst first;
  int64_t count, room;
  const T *values, *other_values;
  int64_t* places;
  T* sums;
  __device__ void operator()(int64_t i) const {
    using W = Wide<T>;
    const int64_t slot = first.marks[i];
    if (first.marks[i + 1] == slot || slot >= room) return;  // no first
    W sum = W(0);
    int64_t k, l, at = i;
    do {
      first.pairs.Find(first.order[at], &k, &l);
      sum += static_cast<W>(values[k]) * static_cast<W>(other_values[l]);
      ++at;
    } while (at < count && first.marks[at + 1] == slot + 1 && first.rows[at] == first.rows[i]);
    places[slot] = first.pairs.other.places[l];
    sums[slot] = static_cast<T>(sum);
  }
};

/// All pairs of a product, in order. Their number goes to the host, which must make room for them: this waits.
struct OrderedPairs {
  CompressedRows matrix, other;
  int64_t count = 0;  // known once `before` is, which the rest needs
  Scratch before, columns, rows, marks;
  const uint32_t *row_keys = nullptr, *order = nullptr;

  OrderedPairs(const Context& ctx, const CompressedRows& the_matrix, const CompressedRows& the_other)
      : matrix(the_matrix),
        other(the_other),
        before(ctx.Allocate<int64_t>(matrix.count + 1)),
        columns(ctx.Allocate<uint32_t>(Count(ctx))),
        rows(ctx.Allocate<uint32_t>(count)),
        marks(ctx.Allocate<int64_t>(count + 1)) {}

  Pairs pairs() const { return {matrix, other, before.as<int64_t>()}; }
  MarkFirst first() const { return {pairs(), row_keys, order, marks.as<int64_t>()}; }

  /// Call `use` while the pairs are in order; there is at least one.
  template <typename F>
  void Use(const Context& ctx, F&& use) {
    const char* who = "rows_product";
    LaunchOver(who, ctx, count, KeyByColumn{pairs(), columns.as<uint32_t>()});
    const Order by_column(ctx, columns.as<uint32_t>(), count, static_cast<uint32_t>(other.size));
    LaunchOver(who, ctx, count, KeyByRow{pairs(), by_column.keys, by_column.order, rows.as<uint32_t>()});
    const Order by_row(ctx, rows.as<uint32_t>(), count, static_cast<uint32_t>(matrix.rows), by_column.order);
    row_keys = by_row.keys, order = by_row.order;
    LaunchOver(who, ctx, count, first());
    SumsBefore(ctx, marks.as<int64_t>(), count);
    use();
  }

 private:
  int64_t Count(const Context& ctx) {
    LaunchOver("rows_product", ctx, matrix.count, CountPairs{matrix, other, before.as<int64_t>()});
    SumsBefore(ctx, before.as<int64_t>(), matrix.count);
    cuda::Fetch("rows_product", ctx, &count, before.as<const int64_t>() + matrix.count);
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    if (count < kMost && matrix.rows < kMost && other.size < kMost) return count;
    throw NotImplementedError("rows_product").Got(count, " pairs of numbers").Expected("fewer than 2**32 on cuda");
  }
};

}  // namespace

template <typename T>
void StartsOfProduct(Context& ctx, View product_starts, View starts, View places, View other_starts, View other_places,
                     int64_t columns) {
  const char* who = "rows_product";
  const CompressedRows matrix(ctx, who, starts, places, other_starts.numel - 1);
  const CompressedRows other(ctx, who, other_starts, other_places, columns);
  CheckRows(ctx, who, matrix);
  CheckRows(ctx, who, other);
  OrderedPairs pairs(ctx, matrix, other);
  int64_t* to = product_starts.as<int64_t>();
  if (pairs.count == 0 || matrix.rows == 0) {
    CheckCuda(cudaMemsetAsync(to, 0, product_starts.numel * sizeof(int64_t), cuda::StreamOf(ctx)), who);
    return;
  }
  pairs.Use(ctx, [&] {
    LaunchOver(who, ctx, matrix.rows + 1, StartRow{pairs.row_keys, pairs.marks.as<int64_t>(), pairs.count, to});
  });
}
using Starts = TypeList<int64_t>;
DRAGON_KERNEL(StartsOfProduct, DRAGON_DEVICE::Starts);

template <typename T>
void RowsProduct(Context& ctx, View product_starts, View product_places, View product_values, View starts, View places,
                 View values, View other_starts, View other_places, View other_values, int64_t columns) {
  const char* who = "rows_product";
  OrderedPairs pairs(ctx, CompressedRows(ctx, who, starts, places, other_starts.numel - 1),
                     CompressedRows(ctx, who, other_starts, other_places, columns));
  if (pairs.count == 0 || pairs.matrix.rows == 0) return;
  pairs.Use(ctx, [&] {
    LaunchOver(who, ctx, pairs.count,
               SumPairs<T>{pairs.first(), pairs.count, product_places.numel, values.as<const T>(),
                           other_values.as<const T>(), product_places.as<int64_t>(), product_values.as<T>()});
  });
}
DRAGON_KERNEL(RowsProduct, Numeric);

}  // namespace dragon::DRAGON_DEVICE
