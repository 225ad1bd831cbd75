// Blurring by weights across and weights down: a block of rows is blurred across into the cache, then down.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/device/parallel.h"
#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
using BlurSum = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// Sums that are made at once: they stay in four registers of the widest kind.
template <typename W>
struct BlurLanes {
  typedef W Type __attribute__((vector_size(64), aligned(sizeof(W)), may_alias));
  static constexpr int64_t kCount = 4 * 64 / sizeof(W);
};

/// to[j] = the sum of weights[k] * from[j + k * step], for one set of sums.
template <typename W>
void WeighLanes(W* to, const W* from, int64_t step, const std::vector<W>& weights) {
  using Lanes = typename BlurLanes<W>::Type;
  constexpr int64_t kLane = 64 / sizeof(W);
  Lanes a{}, b{}, c{}, d{};
  for (const W weight : weights) {
    const Lanes* lanes = reinterpret_cast<const Lanes*>(from);
    a += lanes[0] * weight, b += lanes[1] * weight, c += lanes[2] * weight, d += lanes[3] * weight;
    from += step;
  }
  Lanes* made = reinterpret_cast<Lanes*>(to);
  made[0] = a, made[1] = b, made[2] = c, made[3] = d;
  static_assert(BlurLanes<W>::kCount == 4 * kLane);
}

template <typename T, typename W>
T BlurEnd(W sum) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return static_cast<uint8_t>(std::min(std::max(std::nearbyint(sum), W(0)), W(255)));
  } else {
    return static_cast<T>(sum);
  }
}

/// Place i of an axis whose ends are mirrors.
int64_t Mirrored(int64_t i, int64_t size) {
  if (i < 0) i = -i;
  return i >= size ? 2 * (size - 1) - i : i;
}

/// Images seen as (planes, height, width, inner), where `inner` are channels that come last, or 1.
template <typename T>
class Blurrer {
 public:
  using W = BlurSum<T>;

  Blurrer(const View& x, const std::vector<double>& across, const std::vector<double>& down)
      : across_(across.begin(), across.end()), down_(down.begin(), down.end()) {
    const bool planar = x.is_contiguous();
    planes_ = x.shape[0] * (planar ? x.shape[1] : 1), inner_ = planar ? 1 : x.shape[1];
    height_ = x.shape[2], width_ = x.shape[3], length_ = width_ * inner_;
    room_ = (length_ + kCount - 1) / kCount * kCount;
    reach_ = static_cast<int64_t>(down.size()) / 2;
  }

  void Run(Context& ctx, T* y, const T* x) const {
    const int64_t block = std::clamp<int64_t>(kBlock / room_, std::min(height_, 4 * reach_ + 1), height_);
    const int64_t blocks = (height_ + block - 1) / block, cost = block * length_ * 4;
    ParallelFor(planes_ * blocks, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
      auto middle = ctx.Allocate<W>((block + 2 * reach_) * room_), line = ctx.Allocate<W>(LineSize());
      for (int64_t i = begin; i < end; ++i) {
        const int64_t plane = i / blocks * height_ * length_, first = i % blocks * block;
        const int64_t last = std::min(height_, first + block);
        RunBlock(y + plane, x + plane, first, last, middle.template as<W>(), line.template as<W>());
      }
    });
  }

 private:
  static constexpr int64_t kCount = BlurLanes<W>::kCount;
  static constexpr int64_t kBlock = 32768;  ///< numbers between the passes: they stay in the second cache

  int64_t LineSize() const { return room_ + static_cast<int64_t>(across_.size()) * inner_; }

  void RunBlock(T* y, const T* x, int64_t first, int64_t last, W* middle, W* line) const {
    std::fill_n(line, LineSize(), W(0));
    for (int64_t i = first - reach_; i < last + reach_; ++i) {
      Across(middle + (i - first + reach_) * room_, x + Mirrored(i, height_) * length_, line);
    }
    for (int64_t i = first; i < last; ++i) Down(y + i * length_, middle + (i - first) * room_);
  }
  void Across(W* to, const T* x, W* line) const {
    const int64_t reach = static_cast<int64_t>(across_.size()) / 2;
    W* own = line + reach * inner_;
    for (int64_t j = 0; j < length_; ++j) own[j] = static_cast<W>(x[j]);
    for (int64_t i = 1; i <= reach; ++i) {
      for (int64_t c = 0; c < inner_; ++c) {
        own[c - i * inner_] = own[Mirrored(-i, width_) * inner_ + c];
        own[length_ + (i - 1) * inner_ + c] = own[Mirrored(width_ - 1 + i, width_) * inner_ + c];
      }
    }
    for (int64_t j = 0; j < length_; j += kCount) WeighLanes(to + j, line + j, inner_, across_);
  }
  void Down(T* y, const W* middle) const {
    W sums[kCount];
    for (int64_t j = 0; j < length_; j += kCount) {
      WeighLanes(sums, middle + j, room_, down_);
      const int64_t count = std::min(kCount, length_ - j);
      if (count == kCount) {
        for (int64_t k = 0; k < kCount; ++k) y[j + k] = BlurEnd<T>(sums[k]);
      } else {
        for (int64_t k = 0; k < count; ++k) y[j + k] = BlurEnd<T>(sums[k]);
      }
    }
  }

  std::vector<W> across_, down_;
  int64_t planes_, height_, width_, inner_, length_, room_, reach_;
};

}  // namespace

template <typename T>
void Blur(Context& ctx, View y, View x, const std::vector<double>& across, const std::vector<double>& down) {
  if (x.numel > 0) Blurrer<T>(x, across, down).Run(ctx, y.as<T>(), x.as<T>());
}
using BlurTypes = TypeList<uint8_t, float16, bfloat16, float, double>;
DRAGON_KERNEL(Blur, DRAGON_DEVICE::BlurTypes);

}  // namespace dragon::DRAGON_DEVICE
