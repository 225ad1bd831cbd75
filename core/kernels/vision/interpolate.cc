// Resizing, axis after axis within a block of rows, so that what one axis leaves is in the cache for the next.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/device/parallel.h"
#include "core/kernels/vision/axis_pass.h"
#include "core/kernels/vision/byte_pass.h"
#include "core/kernels/vision/resize.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Bytes between two passes that one block should have: they stay in the nearest caches.
constexpr int64_t kBlock = 65536;

template <typename Pass>
Pass MakePass(const ResampleSpec& spec, int axis, int64_t in, int64_t out, int64_t inner, bool backward) {
  if constexpr (std::is_same_v<Pass, BytePass>) {
    return {TapsOf<double>(spec, axis, in, out), in, inner};
  } else {
    using W = typename Pass::Element;
    Pass pass;
    pass.size = in, pass.inner = inner;
    pass.copies = CopiesOnly(spec.mode) && !backward;
    pass.taps = backward ? TapsOf<W>(spec, axis, out, in).Transposed(out) : TapsOf<W>(spec, axis, in, out);
    return pass;
  }
}

/// Three passes: the first axis in blocks, and before or after it the others.
template <typename T, typename Pass>
class Resizer {
 public:
  using Element = typename Pass::Element;
  using Middle = std::conditional_t<std::is_same_v<T, uint8_t>, uint8_t, Element>;

  Resizer(const View& y, const View& x, const ResampleSpec& spec, bool backward) : sizes_(y, x) {
    for (int i = 3 - sizes_.axes; i < 3; ++i) {
      has_[i] = sizes_.Resizes(i, spec);
      if (!has_[i]) continue;
      // The last axes go first where bytes are rounded in between, and where the first axis grows.
      Set(i, spec, sizes_.Own(i), backward);
    }
  }

  void Run(Context& ctx, T* y, const T* x) const {
    if (!has_[0] && !has_[1] && !has_[2]) return std::copy_n(x, sizes_.planes * In(0), y), void();
    const int first = has_[0] ? 0 : has_[1] ? 1 : 2;
    int64_t planes = sizes_.planes;
    for (int i = 0; i < first; ++i) planes *= sizes_.in[i];
    if (first == 2) return RunLines(ctx, y, x, planes);
    if constexpr (!std::is_same_v<Pass, BytePass>) {
      if (passes_[first].copies) return RunCopies(y, x);
    }
    RunBlocks(ctx, y, x, planes, first);
  }

 private:
  void Set(int i, const ResampleSpec& spec, int axis, bool backward) {
    // What the axes behind i have by then depends on whether they went first.
    int64_t inner = sizes_.channels;
    const bool behind_first = LastFirst();
    for (int j = i + 1; j < 3; ++j) inner *= behind_first ? sizes_.out[j] : sizes_.in[j];
    passes_[i] = MakePass<Pass>(spec, axis, sizes_.in[i], sizes_.out[i], inner, backward);
  }
  bool LastFirst() const {
    if (std::is_same_v<T, uint8_t>) return true;
    const int first = 3 - sizes_.axes;
    return sizes_.in[first] < sizes_.out[first];
  }
  int64_t In(int axis) const { return Numel(sizes_.in, axis); }
  int64_t Out(int axis) const { return Numel(sizes_.out, axis); }
  int64_t Numel(const int64_t* sizes, int axis) const {
    int64_t numel = sizes_.channels;
    for (int i = axis; i < 3; ++i) numel *= sizes[i];
    return numel;
  }
  /// Only the last axis changes.
  void RunLines(Context& ctx, T* y, const T* x, int64_t lines) const {
    const Pass& pass = passes_[2];
    const int64_t in = In(2), out = Out(2), cost = std::max<int64_t>(1, 2 * std::max(in, out));
    ParallelFor(lines, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
      auto buffer = ctx.Allocate<Element>(pass.BufferSize());
      pass.Run(x + begin * in, y + begin * out, end - begin, buffer.template as<Element>());
    });
  }
  /// The axes behind `axis` of so many rows of it.
  template <typename From, typename To>
  void RunBehind(const From* x, To* y, int64_t rows, int axis, Middle* middle, Element* buffer) const {
    if (axis == 1 || !has_[1] || !has_[2]) {
      const int only = axis == 1 || has_[2] ? 2 : 1;
      const int64_t outer = only == 2 && axis == 0 ? rows * sizes_.in[1] : rows;
      return passes_[only].Run(x, y, outer, buffer);
    }
    if (LastFirst()) {
      passes_[2].Run(x, middle, rows * sizes_.in[1], buffer);
      passes_[1].Run(middle, y, rows, buffer);
    } else {
      passes_[1].Run(x, middle, rows, buffer);
      passes_[2].Run(middle, y, rows * sizes_.out[1], buffer);
    }
  }
  /// Where nothing is weighed, only the lines that are read are looked at.
  void RunCopies(T* y, const T* x) const {
    const int64_t in = In(2), out = Out(2), rows = sizes_.out[1], lines = sizes_.planes * sizes_.out[0] * rows;
    ParallelFor(lines, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, out)), [&](int64_t begin, int64_t end) {
      const T* last = nullptr;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t plane = i / rows / sizes_.out[0], outer = IndexOf(0, i / rows % sizes_.out[0]);
        const T* line = x + ((plane * sizes_.in[0] + outer) * sizes_.in[1] + IndexOf(1, i % rows)) * in;
        if (!has_[2]) {
          std::copy_n(line, out, y + i * out);
        } else if (line == last) {  // enlarged images have each line some times
          std::copy_n(y + (i - 1) * out, out, y + i * out);
        } else {
          passes_[2].Run(line, y + i * out, 1, nullptr);
        }
        last = line;
      }
    });
  }
  int64_t IndexOf(int axis, int64_t i) const { return has_[axis] ? passes_[axis].taps.index[i] : i; }
  void RunBlocks(Context& ctx, T* y, const T* x, int64_t planes, int axis) const {
    const Pass& pass = passes_[axis];
    const int64_t rows = sizes_.out[axis], in = In(axis + 1), out = Out(axis + 1);
    const bool behind = (axis == 0 && has_[1]) || has_[2], last_first = LastFirst();
    const int64_t wide = std::max<int64_t>(1, last_first ? out : in) * static_cast<int64_t>(sizeof(Middle));
    const int64_t block = std::clamp<int64_t>(kBlock / wide, std::min<int64_t>(rows, 16), rows);
    const int64_t blocks = (rows + block - 1) / block, cost = 2 * block * std::max(in, out);
    int64_t reach = 0;
    for (int64_t i = 0; i < blocks; ++i) {
      const auto [low, high] = pass.Reach(i * block, std::min(rows, (i + 1) * block));
      reach = std::max(reach, high - low);
    }
    ParallelFor(planes * blocks, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cost)),
                [&](int64_t begin, int64_t end) {
                  auto middle = ctx.Allocate<Middle>(behind ? (last_first ? reach * out : block * in) + 1 : 1);
                  auto other = ctx.Allocate<Middle>(axis == 0 && has_[1] && has_[2] ? Between(reach, block) : 1);
                  auto buffer = ctx.Allocate<Element>(
                      std::max(has_[1] ? passes_[1].BufferSize() : 1, has_[2] ? passes_[2].BufferSize() : 1));
                  Middle *between = middle.template as<Middle>(), *rest = other.template as<Middle>();
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t first = i % blocks * block, last = std::min(rows, first + block);
                    const T* from = x + i / blocks * pass.size * in;
                    T* to = y + (i / blocks * rows + first) * out;
                    if (!behind) {
                      pass.RunPart(from, 0, to, first, last);
                    } else if (last_first) {
                      const auto [low, high] = pass.Reach(first, last);
                      RunBehind(from + low * in, between, high - low, axis, rest, buffer.template as<Element>());
                      pass.RunPart(static_cast<const Middle*>(between), low, to, first, last);
                    } else {
                      pass.RunPart(from, 0, between, first, last);
                      RunBehind(static_cast<const Middle*>(between), to, last - first, axis, rest,
                                buffer.template as<Element>());
                    }
                  }
                });
  }
  /// The elements of a block between the second and the third axis.
  int64_t Between(int64_t reach, int64_t block) const {
    return LastFirst() ? reach * sizes_.in[1] * Out(2) : block * sizes_.out[1] * In(2);
  }

  ImageSizes sizes_;
  bool has_[3] = {false, false, false};
  Pass passes_[3];
};

template <typename T>
void Resample(Context& ctx, View y, View x, const ResampleSpec& spec, bool backward) {
  if (y.numel == 0) return;
  if (x.numel == 0) return std::fill_n(y.as<T>(), y.numel, T(0)), void();
  const auto run = [&](const auto& resizer) { resizer.Run(ctx, y.as<T>(), x.as<T>()); };
  if constexpr (std::is_same_v<T, uint8_t>) {
    if (WeighsBytes(spec.mode)) return run(Resizer<T, BytePass>(y, x, spec, backward));
  }
  run(Resizer<T, AxisPass<Summed<T>>>(y, x, spec, backward));
}

}  // namespace

template <typename T>
void Interpolate(Context& ctx, View y, View x, const ResampleSpec& spec) {
  Resample<T>(ctx, y, x, spec, /*backward=*/false);
}
using ResampleTypes = TypeList<uint8_t, float16, bfloat16, float, double>;
DRAGON_KERNEL(Interpolate, DRAGON_DEVICE::ResampleTypes);

template <typename T>
void InterpolateBackward(Context& ctx, View dx, View dy, const ResampleSpec& spec) {
  Resample<T>(ctx, dx, dy, spec, /*backward=*/true);
}
DRAGON_KERNEL(InterpolateBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
