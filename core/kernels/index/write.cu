// Scatter and advanced writing on CUDA. Where there are many lines, or they are short, a thread writes each in the
// order of its indices; else indices are ordered by place. Of elements that are only moved, the last at each place is
// found first. All three give the same in every run.
#include <numeric>

#include "core/kernels/index.h"
#include "core/kernels/index/offsets_cuda.h"
#include "core/kernels/index/write_cuda.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Walk;

namespace {

/// Operands of all walks: y, index, src. `along` are the axes that may meet at one place, `lines` all others; of those,
/// `columns` have one index, and `entries` (with those along) one each.
struct WriteAxes {
  Dims shape[3], steps[3][3];
  enum { kAlong, kLines, kEntries };
  Dims column_shape, column_steps[2];

  void Add(int which, int64_t size, int64_t y, int64_t index, int64_t src) {
    shape[which].push_back(size);
    steps[which][0].push_back(y);
    steps[which][1].push_back(index);
    steps[which][2].push_back(src);
  }
  void AddLine(int64_t size, int64_t y, int64_t index, int64_t src) {
    Add(kLines, size, y, index, src);
    if (index != 0) return Add(kEntries, size, y, index, src);
    column_shape.push_back(size);
    column_steps[0].push_back(y);
    column_steps[1].push_back(src);
  }
  void AddAlong(int64_t size, int64_t index, int64_t src) {
    Add(kAlong, size, 0, index, src);
    Add(kEntries, size, 0, index, src);
  }
  Walk<3> Walked(int which) const {
    const auto& mine = steps[which];
    return Walk<3>(shape[which].data(), 0, shape[which].size(), {mine[0].data(), mine[1].data(), mine[2].data()});
  }
  Walk<2> Columns() const {
    return Walk<2>(column_shape.data(), 0, column_shape.size(), {column_steps[0].data(), column_steps[1].data()});
  }
};

/// The places that an axis of y leads to are among the keys.
void AddPlaces(PlaceKeys* places, int64_t* high, int64_t size, int64_t stride) {
  if (size <= 1) return;
  places->unit = std::gcd(places->unit, std::abs(stride));
  (stride < 0 ? places->low : *high) += (size - 1) * stride;
}

// --- a thread for each line

template <typename T, typename Index, typename Resolve>
struct WriteLine {
  DeviceWalk<3, Index> lines;
  DeviceWalk<3, int64_t> along;
  int64_t count;
  T* y;
  const int64_t* index;
  const T* src;
  Resolve resolve;
  Combine combine;

  __device__ void operator()(int64_t i) const {
    int64_t line[3];
    lines.At(i, line);
    for (int64_t k = 0; k < count; ++k) {
      int64_t at[3];
      if (along.ndim == 1) {
        for (int n = 0; n < 3; ++n) at[n] = k * along.steps[0][n];
      } else {
        along.At(k, at);
      }
      const int64_t offset = resolve(index[line[1] + at[1]]);
      if (offset == kNowhere) continue;
      T& to = y[line[0] + at[0] + offset];
      const T from = src[line[2] + at[2]];
      to = combine == Combine::kAssign ? from : Joined(combine, to, from);
    }
  }
};

// --- by place

template <typename Index, typename Resolve>
struct FindKey {
  DeviceWalk<3, Index> entries;
  const int64_t* index;
  Resolve resolve;
  PlaceKeys places;
  uint32_t* keys;
  int64_t* sources;
  int32_t* last;  ///< of every place, the last entry that names it; not asked for if null

  __device__ void operator()(int64_t i) const {
    int64_t at[3];
    entries.At(i, at);
    const int64_t offset = resolve(index[at[1]]);
    const uint32_t key =
        static_cast<uint32_t>(offset == kNowhere ? places.keys : (at[0] + offset - places.low) / places.unit);
    keys[i] = key;
    sources[i] = at[2];
    if (last && offset != kNowhere) atomicMax(&last[key], static_cast<int32_t>(i));
  }
};

template <typename W>
struct WriteLast {
  DeviceWalk<2, int64_t> columns;
  int64_t width;
  W* y;
  const W* src;
  const uint32_t* keys;
  const int64_t* sources;
  const int32_t* last;
  PlaceKeys places;
  __device__ void operator()(int64_t i) const {
    const int64_t entry = i / width;
    const uint32_t key = keys[entry];
    if (key >= places.keys || last[key] != entry) return;
    int64_t column[2];
    columns.At(i - entry * width, column);
    y[places.low + key * places.unit + column[0]] = src[sources[entry] + column[1]];
  }
};

template <typename T, typename Resolve>
void WriteLines(Context& ctx, const char* who, T* y, const int64_t* index, const T* src, const WriteAxes& axes,
                Resolve resolve, Combine combine) {
  const WalkAxes<3> lines(axes.Walked(WriteAxes::kLines)), along(axes.Walked(WriteAxes::kAlong));
  WithIndexType(lines.total, [&]<typename Index>(Index) {
    LaunchOver(who, ctx, lines.total,
               WriteLine<T, Index, Resolve>{DeviceWalk<3, Index>(lines), DeviceWalk<3, int64_t>(along), along.total, y,
                                            index, src, resolve, combine});
  });
}

template <typename T, typename Resolve>
void Write(Context& ctx, const char* who, T* y, const int64_t* index, const T* src, const WriteAxes& axes,
           const PlaceKeys& places, Resolve resolve, Combine combine) {
  constexpr int64_t kShort = 8, kManyLines = 32768;
  const Walk<3> entry_walk = axes.Walked(WriteAxes::kEntries), line_walk = axes.Walked(WriteAxes::kLines);
  const int64_t entries = entry_walk.total(), count = axes.Walked(WriteAxes::kAlong).total();
  if (entries == 0 || line_walk.total() == 0) return;
  if (count <= kShort || line_walk.total() >= kManyLines || !places.Fits(entries)) {
    return WriteLines(ctx, who, y, index, src, axes, resolve, combine);
  }
  const Walk<2> columns = axes.Columns();
  const bool moves = combine == Combine::kAssign;
  const Scratch keys = ctx.Allocate<uint32_t>(entries), sources = ctx.Allocate<int64_t>(entries);
  const Scratch last = ctx.Allocate<int32_t>(moves ? places.keys : 0);
  if (moves) CheckCuda(cudaMemsetAsync(last.data(), 0xFF, places.keys * sizeof(int32_t), cuda::StreamOf(ctx)), who);
  const WalkAxes<3> walked(entry_walk);
  LaunchOver(who, ctx, entries,
             FindKey<uint32_t, Resolve>{DeviceWalk<3, uint32_t>(walked), index, resolve, places, keys.as<uint32_t>(),
                                        sources.as<int64_t>(), moves ? last.as<int32_t>() : nullptr});
  if (!moves) {
    return JoinOrdered<T>(ctx, who, y, src, keys.as<uint32_t>(), sources.as<int64_t>(), nullptr, entries, places,
                          columns, combine);
  }
  using W = kernels::Word<T>;
  LaunchOver(who, ctx, entries * columns.total(),
             WriteLast<W>{DeviceWalk<2, int64_t>(WalkAxes<2>(columns)), columns.total(), reinterpret_cast<W*>(y),
                          reinterpret_cast<const W*>(src), keys.as<uint32_t>(), sources.as<int64_t>(),
                          last.as<int32_t>(), places});
}

}  // namespace

template <typename T>
void Scatter(Context& ctx, View y, View index, View src, int axis, Combine combine, kernels::Indexing how) {
  if (kIsComplex<T> && (combine == Combine::kMax || combine == Combine::kMin)) {
    throw TypeError(how.op).Got(y.dtype).Expected("a real dtype for amax and amin");
  }
  if (index.numel == 0) return;
  WriteAxes axes;
  PlaceKeys places{0, 0, 0};
  int64_t high = 0;
  for (int i = 0; i < y.ndim; ++i) {
    if (i == axis) {
      axes.AddAlong(index.shape[i], index.strides[i], src.strides[i]);
      AddPlaces(&places, &high, y.shape[i], y.strides[i]);
      continue;
    }
    axes.AddLine(index.shape[i], y.strides[i], index.shape[i] == 1 ? 0 : index.strides[i], src.strides[i]);
    if (index.shape[i] != 1 && index.strides[i] != 0) AddPlaces(&places, &high, y.shape[i], y.strides[i]);
  }
  places.unit = std::max<int64_t>(places.unit, 1);
  places.keys = (high - places.low) / places.unit + 1;
  const kernels::AxisIndex resolve{y.ndim ? y.shape[axis] : 1, y.ndim ? y.strides[axis] : 0, axis, how};
  Write<T>(ctx, how.op, y.as<T>(), index.as<const int64_t>(), src.as<const T>(), axes, places,
           DeviceIndex(ctx, resolve), combine);
}
DRAGON_KERNEL(Scatter, AllTypes);

template <typename T>
void IndexWrite(Context& ctx, View y, View value, const View* indices, int at, Combine combine, kernels::Indexing how) {
  if (value.numel == 0) return CheckDeviceIndices(ctx, y, indices, how);
  const DeviceIndices plan(ctx, y, indices, at, how);
  WriteAxes axes;
  for (int i = 0; i < value.ndim; ++i) {
    if (i >= at && i < at + plan.index_ndim) {
      axes.AddAlong(value.shape[i], plan.place_strides[i], value.strides[i]);
    } else {
      axes.AddLine(value.shape[i], plan.kept_strides[i], 0, value.strides[i]);
    }
  }
  PlaceKeys places{0, 0, 0};
  int64_t high = 0;
  for (int axis = 0; axis < y.ndim; ++axis) {
    if (indices[axis]) AddPlaces(&places, &high, y.shape[axis], y.strides[axis]);
  }
  places.unit = std::max<int64_t>(places.unit, 1);
  places.keys = (high - places.low) / places.unit + 1;
  if (plan.only) {
    const int axis = plan.only_axis;
    const DeviceIndex resolve(ctx, {y.shape[axis], y.strides[axis], axis, how});
    return Write<T>(ctx, how.op, y.as<T>(), plan.places, value.as<const T>(), axes, places, resolve, combine);
  }
  Write<T>(ctx, how.op, y.as<T>(), plan.places, value.as<const T>(), axes, places, DeviceOffset{}, combine);
}
DRAGON_KERNEL(IndexWrite, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
