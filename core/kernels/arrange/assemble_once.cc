// Padding, rolling, flipping: the boxes that the pieces of all axes span, each copied by strides.
#include <algorithm>

#include "core/device/parallel.h"
#include "core/kernels/arrange.h"
#include "core/kernels/index/access.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Piece;
using kernels::Pieces;
using kernels::Walk;
using kernels::Word;

namespace {

/// One box of y: where it begins, its shape, and how x runs beside it.
struct Box {
  int64_t y_offset = 0, x_offset = 0;
  bool outside = false, repeats = false;
  Dims shape, x_strides;
};

/// Call `body(box)` for every combination of one piece per axis of y.
template <typename F>
void ForBoxes(const View& y, const View& x, const Pieces* pieces, F body) {
  for (int axis = 0; axis < y.ndim; ++axis) {
    if (pieces[axis].empty()) return;
  }
  Dims chosen = Dims::Filled(y.ndim, 0);
  while (true) {
    Box box;
    bool empty = false;
    for (int axis = 0; axis < y.ndim; ++axis) {
      const Piece& piece = pieces[axis][chosen[axis]];
      box.y_offset += piece.to * y.strides[axis];
      box.x_offset += piece.outside ? 0 : piece.from * x.strides[axis];
      box.outside |= piece.outside;
      box.repeats |= piece.step == 0 && piece.count > 1;
      empty |= piece.count == 0;
      box.shape.push_back(piece.count);
      box.x_strides.push_back(piece.outside ? 0 : piece.step * x.strides[axis]);
    }
    if (!empty) body(box);
    int axis = y.ndim - 1;
    for (; axis >= 0; --axis) {
      if (++chosen[axis] < static_cast<int64_t>(pieces[axis].size())) break;
      chosen[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// Lines no longer than this, as the channels of a picture are that stand last, are copied many at a time.
constexpr int64_t kShortLine = 4;

/// Lines of as many elements at least are turned round in the level's vectors.
constexpr int64_t kReversedLine = 16;
template <typename W>
constexpr bool kReverses = sizeof(W) <= 4;
template <typename W>
constexpr DType kReverseDType = sizeof(W) == 1   ? DType::kUInt8
                                : sizeof(W) == 2 ? DType::kInt16
                                                 : DType::kInt32;

/// Copy lines of a few elements that are no fill: `kCount` is how many elements a line has.
template <int64_t kCount, typename W>
void CopyShortLines(const View& y, const View& x, const Box& box) {
  const int last = y.ndim - 1;
  const int64_t y_last = y.strides[last], x_last = box.x_strides[last];
  const Walk<2> walk(box.shape.data(), 0, last, {y.strides, box.x_strides.data()});
  const int64_t y_step = walk.step(0), x_step = walk.step(1);
  ParallelFor(walk.total(), kGrain / kCount, [&](int64_t begin, int64_t end) {
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      W* to = y.as<W>() + box.y_offset + at[0];
      const W* from = x.as<const W>() + box.x_offset + at[1];
      for (int64_t i = 0; i < count; ++i, to += y_step, from += x_step) {
        for (int64_t k = 0; k < kCount; ++k) to[k * y_last] = from[k * x_last];
      }
    });
  });
}

/// The same for as many as a box has; false where that is no small number.
template <typename W>
bool CopyShortLines(const View& y, const View& x, const Box& box) {
  if (y.ndim < 2 || box.outside) return false;
  switch (box.shape[y.ndim - 1]) {
    case 2:
      return CopyShortLines<2, W>(y, x, box), true;
    case 3:
      return CopyShortLines<3, W>(y, x, box), true;
    case kShortLine:
      return CopyShortLines<kShortLine, W>(y, x, box), true;
    default:
      return false;
  }
}

}  // namespace

template <typename T>
void Assemble(Context& ctx, View y, View x, const Pieces* pieces, View fill) {
  using W = Word<T>;
  if (y.numel == 0) return;
  ForBoxes(y, x, pieces, [&](const Box& box) {
    if (CopyShortLines<W>(y, x, box)) return;
    const Walk<2> walk(box.shape.data(), 0, y.ndim, {y.strides, box.x_strides.data()});
    const W* from = box.outside ? fill.as<const W>() : x.as<const W>() + box.x_offset;
    const int64_t y_step = walk.step(0), x_step = box.outside ? 0 : walk.step(1);
    ParallelFor(walk.total(), kGrain, [&](int64_t begin, int64_t end) {
      walk.Range(begin, end, [&](const auto& at, int64_t count) {
        W* to = y.as<W>() + box.y_offset + at[0];
        if (box.outside && y_step == 1) {
          std::fill_n(to, count, *from);
        } else if (y_step == 1 && x_step == -1 && count >= kReversedLine && kReverses<W>) {
          kernels::ReverseLine(ctx, kReverseDType<W>, to, from + at[1] - (count - 1), count);
        } else {
          kernels::CopyLine(to, y_step, box.outside ? from : from + at[1], x_step, count);
        }
      });
    });
  });
}
DRAGON_KERNEL(Assemble, AllTypes);

template <typename T>
void AssembleBackward(Context& ctx, View dx, View dy, const Pieces* pieces) {
  using Acc = Wide<T>;
  const Walk<1> all(dx.shape, 0, dx.ndim, {dx.strides});
  all.All([&](const auto& at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) dx.as<T>()[at[0] + i * all.step(0)] = T(0);
  });
  if (dy.numel == 0) return;
  ForBoxes(dy, dx, pieces, [&](const Box& box) {
    if (box.outside) return;
    const Walk<2> walk(box.shape.data(), 0, dy.ndim, {box.x_strides.data(), dy.strides});
    const int64_t to_step = walk.step(0), from_step = walk.step(1);
    // A box that reads one element for several places sums into it, so it is not divided.
    ParallelFor(walk.total(), box.repeats ? walk.total() : kGrain, [&](int64_t begin, int64_t end) {
      walk.Range(begin, end, [&](const auto& at, int64_t count) {
        T* to = dx.as<T>() + box.x_offset + at[0];
        const T* from = dy.as<const T>() + box.y_offset + at[1];
        if (to_step == 0) {
          Acc sum = static_cast<Acc>(*to);
          for (int64_t i = 0; i < count; ++i) sum += static_cast<Acc>(from[i * from_step]);
          *to = static_cast<T>(sum);
        } else {
          for (int64_t i = 0; i < count; ++i) {
            T& element = to[i * to_step];
            element = static_cast<T>(static_cast<Acc>(element) + static_cast<Acc>(from[i * from_step]));
          }
        }
      });
    });
  });
}
DRAGON_KERNEL(AssembleBackward, Inexact);

}  // namespace dragon::DRAGON_DEVICE
