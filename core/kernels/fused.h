// Convolutions and products with what follows them done while their sums are still in registers, and weights kept in
// the blocks in which oneDNN reads them.
#pragma once

#include "core/kernels/convolution.h"

namespace dragon {

enum class FusedActivation : int32_t {
  kNone,
  kRelu,
  kLeakyRelu,
  kHardtanh,
  kElu,
  kHardsigmoid,
  kHardswish,
  kSigmoid,
  kSilu,
  kTanh,
  kGelu,
  kGeluTanh
};

/// y = activation(sum + residual; alpha, beta). The residual has y's shape, or is not given.
struct FusedTail {
  View residual;
  FusedActivation activation = FusedActivation::kNone;
  double alpha = 0, beta = 0;
};

/// The name of an arrangement of weights, as oneDNN writes it: "Acdb16a". Empty: they lie as their view says.
struct WeightLayout {
  static constexpr int kSize = 32;
  char name[kSize] = {};
  int64_t bytes = 0;  ///< that weights so arranged have

  explicit operator bool() const { return name[0] != 0; }
};

/// What weights are for: `groups` of a convolution, or a product with (out, in) turned.
inline constexpr int64_t kTurnedProduct = 0;

}  // namespace dragon

namespace dragon::kernels {

/// y = tail(conv(x, w) + bias). `w` has the shape of the weights; where `layout` is given, its memory is so arranged.
/// False in `*done`, and nothing written, where oneDNN is not fast.
inline const Kernel<void(View y, View x, View w, View bias, const ConvGeometry& geometry, const FusedTail& tail,
                         const WeightLayout& layout, bool* done)>
    ConvFusedOneDnn{"conv_fused_onednn"};
/// y (m, n) = tail(x (m, k) @ w (n, k).T + bias (n,)), the same way.
inline const Kernel<void(View y, View x, View w, View bias, const FusedTail& tail, const WeightLayout& layout,
                         bool* done)>
    LinearFusedOneDnn{"linear_fused_onednn"};
/// The arrangement that such a convolution reads fastest; no name where oneDNN is not fast. No numbers are looked at.
inline const Kernel<void(View y, View x, View w, View bias, const ConvGeometry& geometry, const FusedTail& tail,
                         WeightLayout* layout)>
    ConvLayout{"conv_layout"};
inline const Kernel<void(View y, View x, View w, View bias, const FusedTail& tail, WeightLayout* layout)> LinearLayout{
    "linear_layout"};
/// Arrange weights; or, if `back`, lay out arranged ones as the view says.
inline const Kernel<void(View packed, View w, int64_t groups, const WeightLayout& layout, bool back)> PackWeight{
    "pack_weight"};

}  // namespace dragon::kernels
