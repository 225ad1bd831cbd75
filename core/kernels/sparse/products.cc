// Products of two matrices in compressed rows: each row of the product is a sum of rows of the second matrix, which is
// gathered in a dense row of sums. A mark says which row a place was last used for, so that nothing need be cleared.
#include "core/kernels/sparse/form.h"

namespace dragon::DRAGON_DEVICE {
namespace {

/// Call `visit(k, l)` for each number k of row i, with each number l of the row of the other matrix that it meets.
template <typename F>
void EachPair(int64_t i, const View& starts, const View& places, const View& other_starts, F&& visit) {
  const int64_t *start = starts.as<const int64_t>(), *place = places.as<const int64_t>();
  const int64_t* other = other_starts.as<const int64_t>();
  for (int64_t k = start[i]; k < start[i + 1]; ++k) {
    for (int64_t l = other[place[k]]; l < other[place[k] + 1]; ++l) visit(k, l);
  }
}

void CheckBoth(const char* who, const View& starts, const View& places, const View& other_starts,
               const View& other_places, int64_t columns) {
  CheckRows(who, starts, places, other_starts.numel - 1);
  CheckRows(who, other_starts, other_places, columns);
}

/// Pairs that a row has, about.
int64_t GrainOf(const View& starts, const View& places, const View& other_starts, const View& other_places) {
  const int64_t each = CostOfRow(starts, places, 1) * CostOfRow(other_starts, other_places, 1);
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(4 * each, 1));
}

/// Puts the places of a row in order: by a bit for each column, or by comparing where the row has few of many.
class Order {
 public:
  Order(const Context& ctx, int64_t columns)
      : words_((columns + 63) / 64), held_(ctx.Allocate<uint64_t>(words_)), bits_(held_.as<uint64_t>()) {
    std::fill_n(bits_, words_, uint64_t{0});
  }
  void Sort(int64_t* places, int64_t count) {
    constexpr int64_t kWordsForOne = 4;  // about what a comparison of each place with some others takes
    if (count * kWordsForOne < words_) {
      std::sort(places, places + count);
      return;
    }
    for (int64_t n = 0; n < count; ++n) bits_[places[n] / 64] |= uint64_t{1} << places[n] % 64;
    for (int64_t word = 0; word < words_; ++word) {
      for (uint64_t left = bits_[word]; left; left &= left - 1) *places++ = word * 64 + __builtin_ctzll(left);
      bits_[word] = 0;
    }
  }

 private:
  int64_t words_;
  Scratch held_;
  uint64_t* bits_;
};

}  // namespace

template <typename T>
void StartsOfProduct(Context& ctx, View product_starts, View starts, View places, View other_starts, View other_places,
                     int64_t columns) {
  CheckBoth("rows_product", starts, places, other_starts, other_places, columns);
  const int64_t* column = other_places.as<const int64_t>();
  int64_t* count = product_starts.as<int64_t>();
  count[0] = 0;
  ParallelFor(starts.numel - 1, GrainOf(starts, places, other_starts, other_places), [&](int64_t begin, int64_t end) {
    Scratch marks = ctx.Allocate<int64_t>(columns);
    int64_t* mark = marks.as<int64_t>();
    std::fill_n(mark, columns, int64_t{-1});
    for (int64_t i = begin; i < end; ++i) {
      int64_t found = 0;
      EachPair(i, starts, places, other_starts, [&](int64_t, int64_t l) {
        found += mark[column[l]] != i;
        mark[column[l]] = i;
      });
      count[i + 1] = found;
    }
  });
  for (int64_t i = 1; i < starts.numel; ++i) count[i] += count[i - 1];
}
using Starts = TypeList<int64_t>;
DRAGON_KERNEL(StartsOfProduct, DRAGON_DEVICE::Starts);

template <typename T>
void RowsProduct(Context& ctx, View product_starts, View product_places, View product_values, View starts, View places,
                 View values, View other_starts, View other_places, View other_values, int64_t columns) {
  using W = Wide<T>;
  const int64_t* column = other_places.as<const int64_t>();
  const T *a = values.as<const T>(), *b = other_values.as<const T>();
  ParallelFor(starts.numel - 1, GrainOf(starts, places, other_starts, other_places), [&](int64_t begin, int64_t end) {
    Scratch marks = ctx.Allocate<int64_t>(columns), dense_sums = ctx.Allocate<W>(columns);
    int64_t* mark = marks.as<int64_t>();
    W* sum = dense_sums.as<W>();
    std::fill_n(mark, columns, int64_t{-1});
    Order order(ctx, columns);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = product_starts.as<const int64_t>()[i];
      int64_t* found = product_places.as<int64_t>() + first;
      int64_t count = 0;
      EachPair(i, starts, places, other_starts, [&](int64_t k, int64_t l) {
        const int64_t at = column[l];
        const W term = static_cast<W>(a[k]) * static_cast<W>(b[l]);
        if (mark[at] == i) {
          sum[at] += term;
        } else {
          mark[at] = i, sum[at] = term, found[count++] = at;
        }
      });
      order.Sort(found, count);
      for (int64_t n = 0; n < count; ++n) product_values.as<T>()[first + n] = static_cast<T>(sum[found[n]]);
    }
  });
}
DRAGON_KERNEL(RowsProduct, Numeric);

}  // namespace dragon::DRAGON_DEVICE
