// The matrices of resampling on a device. The host makes them, as it does for itself, and keeps those of late: a
// network resizes to the same sizes at every step.
#pragma once

#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "core/device/cuda/launch.h"
#include "core/device/cuda/upload.h"
#include "core/kernels/vision/resize.h"

namespace dragon::DRAGON_DEVICE {

/// A sparse matrix by rows, as Taps; without one, each result is its own element.
template <typename W>
struct AxisTable {
  const int32_t* begin = nullptr;
  const int32_t* index = nullptr;
  const W* weight = nullptr;
};

/// A matrix and the memory that it lies in.
template <typename W>
class ResizeTable {
 public:
  ResizeTable(const Context& ctx, const Taps<W>& taps, int bits)
      : bits_(bits),
        begin_(cuda::Upload(ctx, std::vector<int32_t>(taps.begin.begin(), taps.begin.end()))),
        index_(cuda::Upload(ctx, std::vector<int32_t>(taps.index.begin(), taps.index.end()))),
        weight_(cuda::Upload(ctx, taps.weight)),
        numel_(static_cast<int64_t>(taps.index.size())) {
    for (int64_t i = 0; i < taps.rows(); ++i) most_ = std::max(most_, taps.begin[i + 1] - taps.begin[i]);
  }
  AxisTable<W> get() const {
    return {begin_.template as<int32_t>(), index_.template as<int32_t>(), weight_.template as<W>()};
  }
  /// The largest number of elements of a result.
  int64_t most() const { return most_; }
  int64_t numel() const { return numel_; }
  /// How many bits of whole weights stand behind the point.
  int bits() const { return bits_; }

  /// That of one axis of the three of an image.
  static std::shared_ptr<const ResizeTable> Of(const Context& ctx, const ResampleSpec& spec, const ImageSizes& sizes,
                                               int i, bool backward);

 private:
  static std::shared_ptr<const ResizeTable> Make(const Context& ctx, const ResampleSpec& spec, int axis, int64_t in,
                                                 int64_t out, bool backward) {
    if constexpr (std::is_same_v<W, int32_t>) {
      const auto [taps, bits] = WholeOf(TapsOf<double>(spec, axis, in, out));
      return std::make_shared<ResizeTable>(ctx, taps, bits);
    } else {
      const auto taps = backward ? TapsOf<W>(spec, axis, out, in).Transposed(out) : TapsOf<W>(spec, axis, in, out);
      return std::make_shared<ResizeTable>(ctx, taps, 0);
    }
  }

  int bits_;
  Scratch begin_, index_, weight_;
  int64_t numel_, most_ = 0;
};

template <typename W>
std::shared_ptr<const ResizeTable<W>> ResizeTable<W>::Of(const Context& ctx, const ResampleSpec& spec,
                                                         const ImageSizes& sizes, int i, bool backward) {
  constexpr size_t kKept = 64;
  constexpr int64_t kSmall = int64_t{1} << 16;
  // The stream belongs to the key: on another the upload might not have come to pass.
  using Key = std::tuple<void*, int, ResampleMode, bool, bool, bool, double, double, int64_t, int64_t, bool>;
  struct Kept {
    std::mutex mutex;
    std::vector<std::pair<Key, std::shared_ptr<const ResizeTable>>> tables;
    size_t next = 0;
  };
  static auto* kept = new Kept;  // never destroyed: the driver may be gone before static destructors run
  const int axis = sizes.Own(i);
  const Key key{ctx.stream,        ctx.device.index, spec.mode,   spec.align_corners, spec.antialias, spec.placed,
                spec.scales[axis], spec.moves[axis], sizes.in[i], sizes.out[i],       backward};
  std::lock_guard<std::mutex> lock(kept->mutex);
  for (const auto& [known, table] : kept->tables) {
    if (known == key) return table;
  }
  auto table = Make(ctx, spec, axis, sizes.in[i], sizes.out[i], backward);
  if (table->numel() > kSmall) return table;
  if (kept->tables.size() < kKept) {
    kept->tables.emplace_back(key, table);
  } else {
    kept->tables[kept->next] = {key, table};
    kept->next = (kept->next + 1) % kKept;
  }
  return table;
}

}  // namespace dragon::DRAGON_DEVICE
