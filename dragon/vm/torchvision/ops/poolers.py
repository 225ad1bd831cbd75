"""Pooling of regions from the level of a pyramid that fits their size."""
import math

from dragon.vm import torch
from dragon.vm.torchvision.ops._utils import convert_boxes_to_roi_format
from dragon.vm.torchvision.ops.boxes import box_area
from dragon.vm.torchvision.ops.roi_align import roi_align


class LevelMapper:
    """Choose a level of the pyramid by the area of a box.

    Parameters
    ----------
    k_min, k_max : int
        The first and the last level.
    canonical_scale : int, optional, default=224
        The side of a box that belongs to the canonical level.
    canonical_level : int, optional, default=4
        That level.
    eps : float, optional, default=1e-06
        Added before rounding down.

    """

    def __init__(self, k_min, k_max, canonical_scale=224, canonical_level=4, eps=1e-6):
        self.k_min, self.k_max, self.s0, self.lvl0, self.eps = k_min, k_max, canonical_scale, canonical_level, eps

    def __call__(self, boxlists):
        side = torch.sqrt(torch.cat([box_area(boxes) for boxes in boxlists]))
        level = torch.floor(self.lvl0 + torch.log2(side / self.s0) + torch.tensor(self.eps, dtype=side.dtype))
        return (level.clamp(min=self.k_min, max=self.k_max).to(torch.int64) - self.k_min).to(torch.int64)


initLevelMapper = LevelMapper


class MultiScaleRoIAlign(torch.nn.Module):
    """Pool regions from the level of a pyramid that fits them.

    Parameters
    ----------
    featmap_names : List[str]
        The levels to use.
    output_size : Union[int, Tuple[int, int], List[int]]
        Bins down and across.
    sampling_ratio : int
        Samples in a bin.
    canonical_scale, canonical_level : int, optional
        As for `LevelMapper`.

    """

    def __init__(self, featmap_names, output_size, sampling_ratio, *, canonical_scale=224, canonical_level=4):
        super().__init__()
        if isinstance(output_size, int):
            output_size = (output_size, output_size)
        self.featmap_names, self.sampling_ratio = featmap_names, sampling_ratio
        self.output_size, self.scales, self.map_levels = tuple(output_size), None, None
        self.canonical_scale, self.canonical_level = canonical_scale, canonical_level

    def _set_up(self, features, image_shapes):
        if not image_shapes:
            raise ValueError("images list should not be empty")
        tallest = max(shape[0] for shape in image_shapes)
        # Levels are powers of two apart.
        self.scales = [2.0 ** round(math.log2(feature.shape[-2] / tallest)) for feature in features]
        self.map_levels = LevelMapper(int(-math.log2(self.scales[0])), int(-math.log2(self.scales[-1])),
                                      self.canonical_scale, self.canonical_level)

    def forward(self, x, boxes, image_shapes):
        features = [feature for name, feature in x.items() if name in self.featmap_names]
        if self.scales is None or self.map_levels is None:
            self._set_up(features, image_shapes)
        rois = convert_boxes_to_roi_format(boxes)
        if len(features) == 1:
            return roi_align(features[0], rois, self.output_size, self.scales[0], self.sampling_ratio)
        levels = self.map_levels(boxes)
        result = torch.zeros((len(rois), features[0].shape[1], *self.output_size), dtype=features[0].dtype,
                             device=features[0].device)
        for level, (feature, scale) in enumerate(zip(features, self.scales)):
            members = torch.where(levels == level)[0]
            pooled = roi_align(feature, rois[members], self.output_size, scale, self.sampling_ratio)
            result = result.index_copy(0, members, pooled.to(result.dtype))
        return result

    def __repr__(self):
        return (f"{self.__class__.__name__}(featmap_names={self.featmap_names}, output_size={self.output_size}, "
                f"sampling_ratio={self.sampling_ratio})")
