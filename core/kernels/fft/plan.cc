// Factors a length into passes, or into a convolution of a friendlier length.
#include "core/kernels/fft/plan.h"

#include <cmath>
#include <list>

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int64_t kKeptPlans = 64;

/// Radices of the passes, the largest powers of two first; empty when a prime factor is larger than 13.
std::vector<int> Factor(int64_t n) {
  std::vector<int> factors;
  while (n % 8 == 0) factors.push_back(8), n /= 8;
  if (n % 4 == 0) factors.push_back(4), n /= 4;
  if (n % 2 == 0) {  // 8 * 2 = 4 * 4: two even passes beat a long and a short one
    n /= 2;
    if (!factors.empty() && factors.back() == 8) {
      factors.back() = 4;
      factors.push_back(4);
    } else {
      factors.push_back(2);
    }
  }
  for (int prime : {3, 5, 7, 11, 13}) {
    while (n % prime == 0) factors.push_back(prime), n /= prime;
  }
  if (n != 1) factors.clear();
  return factors;
}

/// y = x * w, with one factor for all lanes of an element.
template <typename T>
void Turn(Split<const T> x, Split<T> y, Split<const T> w, int64_t count, int64_t lanes) {
  if (lanes == 1) {  // vectors run along the line
    const T *DRAGON_RESTRICT wr = w.re, *DRAGON_RESTRICT wi = w.im;
    T *yr = y.re, *yi = y.im;  // may be x
#pragma omp simd
    for (int64_t j = 0; j < count; ++j) {
      const T re = x.re[j], im = x.im[j];
      yr[j] = re * wr[j] - im * wi[j];
      yi[j] = re * wi[j] + im * wr[j];
    }
    return;
  }
  for (int64_t j = 0; j < count; ++j) {
    const T cos = w.re[j], sin = w.im[j];
#pragma omp simd
    for (int64_t at = j * lanes; at < (j + 1) * lanes; ++at) {
      const T re = x.re[at], im = x.im[at];
      y.re[at] = re * cos - im * sin;
      y.im[at] = re * sin + im * cos;
    }
  }
}

/// The smallest multiple of 16 of at least n that is a product of 2, 3 and 5: 16 lets the first passes fill vectors.
int64_t FriendlyLength(int64_t n) {
  int64_t best = 16;
  while (best < n) best *= 2;
  for (int64_t fives = 16; fives < best; fives *= 5) {
    for (int64_t threes = fives; threes < best; threes *= 3) {
      int64_t length = threes;
      while (length < n) length *= 2;
      best = std::min(best, length);
    }
  }
  return best;
}

template <typename T>
void RunPass(int radix, int64_t m, int64_t s, Split<const T> x, Split<T> y, Split<const T> w) {
  switch (radix) {
    case 2:
      return butterfly::Pass<2, T>(m, s, x, y, w);
    case 3:
      return butterfly::Pass<3, T>(m, s, x, y, w);
    case 4:
      return butterfly::Pass<4, T>(m, s, x, y, w);
    case 5:
      return butterfly::Pass<5, T>(m, s, x, y, w);
    case 7:
      return butterfly::Pass<7, T>(m, s, x, y, w);
    case 8:
      return butterfly::Pass<8, T>(m, s, x, y, w);
    case 11:
      return butterfly::Pass<11, T>(m, s, x, y, w);
    default:
      return butterfly::Pass<13, T>(m, s, x, y, w);
  }
}

}  // namespace

Roots::Roots(int64_t n) : n_(n), step_(std::max<int64_t>(1, static_cast<int64_t>(std::sqrt(static_cast<double>(n))))) {
  constexpr long double kTwoPi = 6.283185307179586476925286766559005768L;
  const auto root = [&](int64_t k) {
    const long double angle = kTwoPi * static_cast<long double>(k) / static_cast<long double>(n);
    return Root{std::cos(angle), -std::sin(angle)};
  };
  for (int64_t k = 0; k < step_; ++k) fine_.push_back(root(k));
  for (int64_t k = 0; k <= n / step_; ++k) coarse_.push_back(root(k * step_));
}

Roots::Root Roots::operator()(int64_t k) const {
  k %= n_;
  const Root a = coarse_[k / step_], b = fine_[k % step_];
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

template <typename T>
FftPlan<T>::FftPlan(int64_t n) : n_(n) {
  if (n < 2) return;
  MakeStages();
  if (stages_.empty()) MakeChirp();
}

template <typename T>
void FftPlan<T>::MakeStages() {
  const Roots roots(n_);
  int64_t length = n_;
  for (int radix : Factor(n_)) {
    Stage stage{radix, length / radix, {}, {}};
    const int64_t turn = n_ / length;  // exp(-2 pi i p k / length)
    for (int64_t k = 1; k < radix; ++k) {
      for (int64_t p = 0; p < stage.m; ++p) {
        const auto root = roots(p * k * turn);
        stage.re.push_back(static_cast<T>(root.re));
        stage.im.push_back(static_cast<T>(root.im));
      }
    }
    length = stage.m;
    stages_.push_back(std::move(stage));
  }
}

template <typename T>
void FftPlan<T>::MakeChirp() {
  convolution_ = Of(FriendlyLength(2 * n_ - 1));
  const int64_t length = convolution_->size();
  const Roots roots(2 * n_);
  chirp_re_.resize(n_), chirp_im_.resize(n_);
  filter_re_.assign(length, T(0)), filter_im_.assign(length, T(0));
  for (int64_t j = 0, square = 0; j < n_; square = (square + 2 * j + 1) % (2 * n_), ++j) {  // j^2 mod 2n
    const auto root = roots(square);
    chirp_re_[j] = static_cast<T>(root.re), chirp_im_[j] = static_cast<T>(root.im);
    // The filter carries the 1 / length of the backward transform.
    const T re = static_cast<T>(root.re / length), im = static_cast<T>(-root.im / length);
    filter_re_[j] = re, filter_im_[j] = im;
    if (j > 0) filter_re_[length - j] = re, filter_im_[length - j] = im;
  }
  std::vector<T> scratch(convolution_->ScratchSize(1));
  const Split<T> spectrum = convolution_->Run({filter_re_.data(), filter_im_.data()}, scratch.data(), 1);
  if (spectrum.re != filter_re_.data()) {
    std::copy_n(spectrum.re, length, filter_re_.data());
    std::copy_n(spectrum.im, length, filter_im_.data());
  }
}

template <typename T>
std::shared_ptr<const FftPlan<T>> FftPlan<T>::Of(int64_t n) {
  using Entry = std::shared_ptr<const FftPlan>;
  static std::mutex mutex;
  static auto* kept = new std::list<Entry>;  // the last used first; never destroyed: kernels may run at exit
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto it = kept->begin(); it != kept->end(); ++it) {
      if ((*it)->size() != n) continue;
      kept->splice(kept->begin(), *kept, it);
      return kept->front();
    }
  }
  Entry plan = std::make_shared<const FftPlan>(n);  // without the lock: Bluestein's plan asks for another
  std::lock_guard<std::mutex> lock(mutex);
  kept->push_front(plan);
  if (static_cast<int64_t>(kept->size()) > kKeptPlans) kept->pop_back();
  return plan;
}

template <typename T>
const std::vector<Complex<T>>& FftPlan<T>::Joining() const {
  std::lock_guard<std::mutex> lock(joining_mutex_);
  if (joining_.empty()) {
    std::vector<Complex<T>> made;
    const Roots roots(2 * n_);
    for (int64_t k = 0; k <= n_; ++k) {
      const auto root = roots(k);
      made.push_back({static_cast<T>(root.re), static_cast<T>(root.im)});
    }
    joining_ = std::move(made);
  }
  return joining_;
}

template <typename T>
int64_t FftPlan<T>::ScratchSize(int64_t lanes) const {
  if (convolution_) return 2 * convolution_->size() * lanes + convolution_->ScratchSize(lanes);
  return 2 * n_ * lanes;
}

template <typename T>
Split<T> FftPlan<T>::Run(Split<T> x, T* scratch, int64_t lanes) const {
  return convolution_ ? RunChirp(x, scratch, lanes) : RunStages(x, scratch, lanes);
}

template <typename T>
Split<T> FftPlan<T>::RunStages(Split<T> x, T* scratch, int64_t lanes) const {
  Split<T> from = x, to = {scratch, scratch + n_ * lanes};
  int64_t s = lanes;
  for (const Stage& stage : stages_) {
    RunPass<T>(stage.radix, stage.m, s, {from.re, from.im}, to, {stage.re.data(), stage.im.data()});
    std::swap(from, to);
    s *= stage.radix;
  }
  return from;
}

template <typename T>
Split<T> FftPlan<T>::RunChirp(Split<T> x, T* scratch, int64_t lanes) const {
  const int64_t length = convolution_->size();
  const Split<T> wide = {scratch, scratch + length * lanes};
  Turn({x.re, x.im}, wide, {chirp_re_.data(), chirp_im_.data()}, n_, lanes);
  std::fill(wide.re + n_ * lanes, wide.re + length * lanes, T(0));
  std::fill(wide.im + n_ * lanes, wide.im + length * lanes, T(0));
  T* inner = scratch + 2 * length * lanes;
  Split<T> spectrum = convolution_->Run(wide, inner, lanes);
  Turn({spectrum.re, spectrum.im}, spectrum, {filter_re_.data(), filter_im_.data()}, length, lanes);
  // The spectrum may lie in the inner scratch; the transform back then needs the wide arrays as its own.
  T* other = spectrum.re == wide.re ? inner : scratch;
  const Split<T> back = convolution_->Run({spectrum.im, spectrum.re}, other, lanes);
  Turn({back.im, back.re}, x, {chirp_re_.data(), chirp_im_.data()}, n_, lanes);
  return x;
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace dragon::DRAGON_DEVICE
