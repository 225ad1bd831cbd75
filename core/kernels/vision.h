// Resampling of images and volumes, and sliding windows laid out as columns. Views are contiguous, channels come first,
// except where it is said that they may come last.
#pragma once

#include <array>
#include <vector>

#include "core/kernels/kernel.h"

namespace dragon {

/// PyTorch's modes; from kTriangle on TensorFlow's, whose weights at the borders are made to sum to one.
enum class ResampleMode {
  kNearest,
  kNearestExact,
  kLinear,
  kCubic,
  kArea,
  kLinearAntialias,
  kCubicAntialias,
  kLanczosAntialias,
  kNearestCenter,
  kTriangle,
  kKeys,
  kMitchell,
  kGaussian,
  kLanczos3,
  kLanczos5,
  kCoverage,
  kLanczos1,
  kBox
};

/// How the axes from the third on are resampled. A scale of 0 means: as the sizes say.
struct ResampleSpec {
  ResampleMode mode;
  bool align_corners = false;
  bool antialias = false;  ///< whether TensorFlow's kernels are widened where images shrink
  std::array<double, 3> scales = {0, 0, 0};
  /// Whether place p of an image comes to lie at p * scale + move, wherever that is in the result.
  bool placed = false;
  std::array<double, 3> moves = {0, 0, 0};
};

enum class GridMode { kLinear, kNearest, kCubic };
/// What lies outside the image: zeros, its border, or its mirror image.
enum class GridPadding { kZeros, kBorder, kReflection };

/// The windows of fold and unfold, (height, width) each.
struct WindowSpec {
  std::array<int64_t, 2> size, dilation, padding, stride;
};

/// Which boxes are kept: how many at most, how much of what two cover they may share, how good they must be; and where
/// `sigma` is not 0, by how much a score suffers from overlaps instead.
struct SelectBoxesSpec {
  int64_t limit;
  double overlap, least, sigma;
};

/// How boxes of images are read: in which size, and what stands for pixels outside. `down` and `across` are 1 where not
/// the pixels are asked for but how they change along that axis.
struct CropSpec {
  int64_t height, width;
  bool nearest;
  double outside;
  int down, across;
};

/// What a projection reads outside a picture: a number, its border, its mirror image, or its other end.
enum class ProjectOutside { kConstant, kNearest, kReflect, kWrap };

struct ProjectSpec {
  bool nearest;
  ProjectOutside outside;
  double fill;
};

/// What pictures are mixed with: black, each pixel's grey, or the picture's mean grey.
enum class ColourBlend { kBlack, kGrey, kMean };

namespace kernels {

/// Resize the axes of x (N, C, ...) from the third on to those of y. Both views are contiguous, or both have their
/// channels last.
inline const Kernel<void(View y, View x, const ResampleSpec& spec)> Interpolate{"interpolate"};
/// The transposed operation: dx from dy.
inline const Kernel<void(View dx, View dy, const ResampleSpec& spec)> InterpolateBackward{"interpolate_backward"};
/// Each pixel of x (N, C, H, W) becomes the sum of its neighbours by weights across and down, whose numbers are odd;
/// what lies outside is mirrored. Both views are contiguous, or both have their channels last.
inline const Kernel<void(View y, View x, const std::vector<double>& across, const std::vector<double>& down)> Blur{
    "blur"};
/// y = x times `ratio`, and the other times 1 - ratio, within the range of colours. Views are contiguous, (..., C, H,
/// W).
inline const Kernel<void(View y, View x, double ratio, ColourBlend with)> BlendColours{"blend_colours"};
/// Turn hues by a share of the circle: red, green and blue in, and out.
inline const Kernel<void(View y, View x, double turn)> TurnHue{"turn_hue"};
/// y = (x - mean) / deviation, one of each for all channels or for each.
inline const Kernel<void(View y, View x, const std::vector<double>& mean, const std::vector<double>& deviation)>
    Standardize{"standardize"};
/// Read x (N, C, [D,] H, W) at the points of grid (N, ..., 2 or 3), which run from -1 to 1, x coordinate first.
inline const Kernel<void(View y, View x, View grid, GridMode mode, GridPadding padding, bool align_corners)> GridSample{
    "grid_sample"};
/// Gradients of the above; either may be left out.
inline const Kernel<void(View dx, View dgrid, View dy, View x, View grid, GridMode mode, GridPadding padding,
                         bool align_corners)>
    GridSampleBackward{"grid_sample_backward"};
/// Read x (N, C, H, W) where rows of transforms (1 or N, 8), float32, send the pixels of y (N, C, height, width): pixel
/// (x, y) to ((t0 x + t1 y + t2) / k, (t3 x + t4 y + t5) / k) with k = t6 x + t7 y + 1. Views have any strides.
inline const Kernel<void(View y, View x, View transforms, const ProjectSpec& spec)> ProjectImages{"project_images"};
/// Windows of x (N, C, H, W) as columns of y (N, C kh kw, windows).
inline const Kernel<void(View y, View x, const WindowSpec& spec)> Im2Col{"im2col"};
/// The transposed operation: columns are added back into an image (N, C, H, W).
inline const Kernel<void(View y, View x, const WindowSpec& spec)> Col2Im{"col2im"};
/// Which boxes (N, 4), given best first as corners (x1, y1, x2, y2), overlap no better one that stays by more than
/// `threshold` of what both cover.
inline const Kernel<void(View stays, View boxes, double threshold)> SuppressBoxes{"suppress_boxes"};

/// Of each row of scores (R, N) the numbers and scores of the best boxes, (R, limit), and how many there are, (R); the
/// rest is 0. Boxes (S, N, 4) are any two corners (y1, x1, y2, x2); R / S rows that follow each other share them.
inline const Kernel<void(View kept, View values, View counts, View boxes, View scores, const SelectBoxesSpec& spec)>
    SelectBoxes{"select_boxes"};

/// Read boxes (M, 4), rows of (y1, x1, y2, x2) from 0 to 1, of images x (N, H, W, C): y (M, height, width, C).
inline const Kernel<void(View y, View x, View boxes, View which, const CropSpec& spec)> CropBoxes{"crop_boxes"};
/// The transposed operation: dx from dy.
inline const Kernel<void(View dx, View dy, View boxes, View which, const CropSpec& spec)> CropBoxesBackward{
    "crop_boxes_backward"};

}  // namespace kernels
}  // namespace dragon
