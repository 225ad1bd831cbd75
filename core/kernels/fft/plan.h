// How a transform of one length is done: its passes and their twiddles, made once and kept.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/kernels/fft/butterfly.h"

namespace dragon::DRAGON_DEVICE {

/// exp(-2 pi i k / n) for any k, exact to the last bit of T: from two short tables in long double.
class Roots {
 public:
  struct Root {
    long double re, im;
  };
  explicit Roots(int64_t n);
  Root operator()(int64_t k) const;

 private:
  int64_t n_, step_;
  std::vector<Root> coarse_, fine_;
};

template <typename T>
class FftPlan {
 public:
  explicit FftPlan(int64_t n);
  /// The plan of that length; made at the first call and kept while it is among the last used.
  static std::shared_ptr<const FftPlan> Of(int64_t n);

  int64_t size() const { return n_; }
  /// Whether contiguous lines are worth interleaving: short ones, and those whose first passes fill no vector alone.
  bool likes_lanes() const { return n_ <= 256 || (!convolution_ && n_ % 8 != 0 && n_ <= 16384); }
  /// Elements of T that Run wants as scratch for so many lines.
  int64_t ScratchSize(int64_t lanes) const;
  /// Transform `lanes` interleaved lines (element j of line l at j lanes + l) forward; the result is in the returned
  /// arrays, which are either `x` or in the scratch. Exchange re and im, before and after, to go backward.
  Split<T> Run(Split<T> x, T* scratch, int64_t lanes) const;
  /// exp(-pi i k / n) for k = 0 .. n: what joins the transforms of a real line's 2 n even and odd elements.
  const std::vector<Complex<T>>& Joining() const;

 private:
  struct Stage {
    int radix;
    int64_t m;
    std::vector<T> re, im;
  };
  void MakeStages();
  void MakeChirp();
  Split<T> RunStages(Split<T> x, T* scratch, int64_t lanes) const;
  Split<T> RunChirp(Split<T> x, T* scratch, int64_t lanes) const;

  int64_t n_;
  std::vector<Stage> stages_;
  /// For lengths with a large prime factor (L. Bluestein, 1970): the transform as a convolution with a chirp.
  std::shared_ptr<const FftPlan> convolution_;
  std::vector<T> chirp_re_, chirp_im_, filter_re_, filter_im_;
  mutable std::mutex joining_mutex_;
  mutable std::vector<Complex<T>> joining_;
};

}  // namespace dragon::DRAGON_DEVICE
