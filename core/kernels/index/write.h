// The loop under every write at computed places: deterministic, because one thread owns all writes to a place.
#pragma once

#include "core/device/parallel.h"
#include "core/kernels/index/access.h"
#include "core/kernels/index/join.h"

namespace dragon::kernels {

/// Operands of each walk: y, index, src. `along` are the axes that may meet at one place and run in order; the axes
/// `before` and `after` them never do, so threads divide those.
template <typename T, typename Join, typename Resolve>
class Writer {
 public:
  Writer(T* y, const int64_t* index, const T* src, const Walk<3>& before, const Walk<3>& along, const Walk<3>& after,
         Resolve resolve)
      : y_(y), index_(index), src_(src), before_(before), along_(along), after_(after), resolve_(resolve) {}

  void Run() const {
    const int64_t outer = before_.total(), inner = after_.total(), middle = along_.total();
    if (outer * inner * middle == 0) return;
    if (outer >= NumThreads() || inner == 1) {
      ParallelFor(outer, 1 + kGrain / (2 * inner * middle),
                  [&](int64_t begin, int64_t end) { Outer(begin, end, 0, inner); });
    } else {
      ParallelFor(inner, 1 + kGrain / (2 * outer * middle),
                  [&](int64_t begin, int64_t end) { Outer(0, outer, begin, end); });
    }
  }

 private:
  void Outer(int64_t begin, int64_t end, int64_t after_begin, int64_t after_end) const {
    before_.Range(begin, end, [&](const auto& at, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const typename Walk<3>::Offsets base = {at[0] + i * before_.step(0), at[1] + i * before_.step(1),
                                                at[2] + i * before_.step(2)};
        if (after_.total() == 1) {
          Single(base);
        } else {
          Rows(base, after_begin, after_end);
        }
      }
    });
  }

  /// One element per index.
  void Single(const typename Walk<3>::Offsets& base) const {
    const int64_t y_step = along_.step(0), index_step = along_.step(1), src_step = along_.step(2);
    along_.All([&](const auto& at, int64_t count) {
      T* y = y_ + base[0] + at[0];
      const int64_t* index = index_ + base[1] + at[1];
      const T* src = src_ + base[2] + at[2];
      for (int64_t i = 0; i < count; ++i) {
        T& to = y[i * y_step + resolve_(index[i * index_step])];
        to = Join()(to, src[i * src_step]);
      }
    });
  }

  /// A run of elements per index.
  void Rows(const typename Walk<3>::Offsets& base, int64_t after_begin, int64_t after_end) const {
    const bool one_line = after_.is_line();  // an odometer for each index would cost more than the row
    along_.All([&](const auto& at, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        T* y = y_ + base[0] + at[0] + i * along_.step(0);
        const int64_t* index = index_ + base[1] + at[1] + i * along_.step(1);
        const T* src = src_ + base[2] + at[2] + i * along_.step(2);
        if (one_line) {
          Line(y + after_begin * after_.step(0), index + after_begin * after_.step(1),
               src + after_begin * after_.step(2), after_end - after_begin);
          continue;
        }
        after_.Range(after_begin, after_end,
                     [&](const auto& in, int64_t n) { Line(y + in[0], index + in[1], src + in[2], n); });
      }
    });
  }

  void Line(T* y, const int64_t* index, const T* src, int64_t count) const {
    const int64_t y_step = after_.step(0), index_step = after_.step(1), src_step = after_.step(2);
    if (index_step != 0) {
      for (int64_t i = 0; i < count; ++i) {
        T& to = y[i * y_step + resolve_(index[i * index_step])];
        to = Join()(to, src[i * src_step]);
      }
      return;
    }
    y += resolve_(*index);
    if (y_step == 1 && src_step == 1) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) y[i] = Join()(y[i], src[i]);
    } else {
      for (int64_t i = 0; i < count; ++i) y[i * y_step] = Join()(y[i * y_step], src[i * src_step]);
    }
  }

  T* y_;
  const int64_t* index_;
  const T* src_;
  const Walk<3>&before_, &along_, &after_;
  Resolve resolve_;
};

/// The writes of Scatter: the places that meet lie along `axis`.
template <typename T, typename Join>
void ScatterWith(View y, View index, View src, int axis, Indexing how) {
  Dims y_strides(y.strides, y.ndim);
  const AxisIndex resolve{y.ndim ? y.shape[axis] : 1, y.ndim ? y.strides[axis] : 0, axis, how};
  if (y.ndim > 0) y_strides[axis] = 0;
  const std::array<const int64_t*, 3> strides = {y_strides.data(), index.strides, src.strides};
  const int first = y.ndim ? axis : 0, last = y.ndim ? axis + 1 : 0;
  const Walk<3> before(index.shape, 0, first, strides), along(index.shape, first, last, strides);
  const Walk<3> after(index.shape, last, index.ndim, strides);
  Writer<T, Join, AxisIndex>(y.as<T>(), index.as<int64_t>(), src.as<T>(), before, along, after, resolve).Run();
}

}  // namespace dragon::kernels
