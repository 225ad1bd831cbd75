"""The boxes from which detectors start, told for each cell of each level."""
import math

from dragon.vm import torch

nn = torch.nn


def _grid(height, width, stride):
    """Return (cells, 4): where each cell starts, as a box of no extent."""
    down, across = (torch.arange(0, size, dtype=torch.int32) * step for size, step in zip((height, width), stride))
    y, x = (axis.reshape(-1) for axis in torch.meshgrid(down, across, indexing="ij"))
    return torch.stack((x, y, x, y), dim=1)


class AnchorGenerator(nn.Module):
    """Make boxes of several sizes and shapes around the cells of each level.

    Parameters
    ----------
    sizes : Tuple[Tuple[int, ...], ...]
        The sides of square boxes, for each level.
    aspect_ratios : Tuple[Tuple[float, ...], ...]
        Height by width, for each level.

    """

    def __init__(self, sizes=((128, 256, 512),), aspect_ratios=((0.5, 1.0, 2.0),)):
        super().__init__()
        if not isinstance(sizes[0], (list, tuple)):
            sizes = tuple((size,) for size in sizes)
        if not isinstance(aspect_ratios[0], (list, tuple)):
            aspect_ratios = (aspect_ratios,) * len(sizes)
        self.sizes, self.aspect_ratios = sizes, aspect_ratios
        self.cell_anchors = [self.generate_anchors(*pair) for pair in zip(sizes, aspect_ratios)]

    def generate_anchors(self, scales, aspect_ratios, dtype=torch.float32, device=torch.device("cpu")):
        """Return the boxes of a level around the origin."""
        scales = torch.as_tensor(scales, dtype=dtype, device=device)
        tall = torch.sqrt(torch.as_tensor(aspect_ratios, dtype=dtype, device=device))
        heights, widths = ((ratio[:, None] * scales[None, :]).view(-1) for ratio in (tall, 1 / tall))
        return (torch.stack([-widths, -heights, widths, heights], dim=1) / 2).round()

    def set_cell_anchors(self, dtype, device):
        """Put the boxes around the origin into a dtype and onto a device."""
        self.cell_anchors = [anchor.to(dtype=dtype, device=device) for anchor in self.cell_anchors]

    def num_anchors_per_location(self):
        """Return how many boxes a cell of each level has."""
        return [len(sizes) * len(ratios) for sizes, ratios in zip(self.sizes, self.aspect_ratios)]

    def grid_anchors(self, grid_sizes, strides):
        """Return the boxes of each level around all its cells."""
        if not len(grid_sizes) == len(strides) == len(self.cell_anchors):
            raise AssertionError(f"AnchorGenerator: got {len(grid_sizes)} feature maps, expected one for each of "
                                 f"{len(self.cell_anchors)} tuples of sizes and aspect ratios")
        return [(_grid(*size, stride).to(anchors.device).view(-1, 1, 4) + anchors.view(1, -1, 4)).reshape(-1, 4)
                for size, stride, anchors in zip(grid_sizes, strides, self.cell_anchors)]

    def forward(self, image_list, feature_maps):
        sizes = [feature.shape[-2:] for feature in feature_maps]
        height, width = image_list.tensors.shape[-2:]
        self.set_cell_anchors(feature_maps[0].dtype, feature_maps[0].device)
        levels = self.grid_anchors(sizes, [(height // size[0], width // size[1]) for size in sizes])
        return [torch.cat(levels) for _ in image_list.image_sizes]


class DefaultBoxGenerator(nn.Module):
    """Make the default boxes of single-shot detectors.

    Parameters
    ----------
    aspect_ratios : List[List[int]]
        For each level.
    min_ratio, max_ratio : float, optional
        The scales of the first level and of the last, where `scales` is None.
    scales : List[float], optional
        The scale of each level, and one more.
    steps : List[int], optional
        The pixels between cells of each level.
    clip : bool, optional, default=True
        Whether sides are cut to the image's.

    """

    def __init__(self, aspect_ratios, min_ratio=0.15, max_ratio=0.9, scales=None, steps=None, clip=True):
        super().__init__()
        if steps is not None and len(aspect_ratios) != len(steps):
            raise ValueError("aspect_ratios and steps should have the same length")
        self.aspect_ratios, self.steps, self.clip, count = aspect_ratios, steps, clip, len(aspect_ratios)
        if scales is None and count > 1:
            scales = [min_ratio + (max_ratio - min_ratio) * level / (count - 1.0) for level in range(count)] + [1.0]
        self.scales = [min_ratio, max_ratio] if scales is None else scales
        self._wh_pairs = self._generate_wh_pairs(count)

    def _generate_wh_pairs(self, num_outputs, dtype=torch.float32, device=torch.device("cpu")):
        levels = []
        for level in range(num_outputs):
            scale, between = self.scales[level], math.sqrt(self.scales[level] * self.scales[level + 1])
            pairs = [[scale, scale], [between, between]]
            for ratio in self.aspect_ratios[level]:
                wide, narrow = scale * math.sqrt(ratio), scale / math.sqrt(ratio)
                pairs += [[wide, narrow], [narrow, wide]]
            levels.append(torch.as_tensor(pairs, dtype=dtype, device=device))
        return levels

    def num_anchors_per_location(self):
        """Return how many boxes a cell of each level has."""
        return [2 + 2 * len(ratios) for ratios in self.aspect_ratios]

    def _grid_default_boxes(self, grid_sizes, image_size, dtype=torch.float32):
        levels = []
        for level, (height, width) in enumerate(grid_sizes):
            rows, columns = height, width
            if self.steps is not None:
                rows, columns = (side / self.steps[level] for side in image_size)
            down = ((torch.arange(0, height) + 0.5) / rows).to(dtype=dtype)
            across = ((torch.arange(0, width) + 0.5) / columns).to(dtype=dtype)
            y, x = (axis.reshape(-1) for axis in torch.meshgrid(down, across, indexing="ij"))
            sides = self._wh_pairs[level].clamp(min=0, max=1) if self.clip else self._wh_pairs[level]
            centres = torch.stack((x, y) * len(sides), dim=-1).reshape(-1, 2)
            levels.append(torch.cat((centres, sides.to(dtype).repeat(height * width, 1)), dim=1))
        return torch.cat(levels, dim=0)

    def forward(self, image_list, feature_maps):
        height, width = image_list.tensors.shape[-2:]
        boxes = self._grid_default_boxes([feature.shape[-2:] for feature in feature_maps], (height, width),
                                         dtype=feature_maps[0].dtype).to(feature_maps[0].device)
        size = torch.tensor([width, height], device=boxes.device)
        centre, half = boxes[:, :2], 0.5 * boxes[:, 2:]
        return [torch.cat([(centre - half) * size, (centre + half) * size], -1) for _ in image_list.image_sizes]

    def __repr__(self):
        return (f"{self.__class__.__name__}(aspect_ratios={self.aspect_ratios}, clip={self.clip}, "
                f"scales={self.scales}, steps={self.steps})")
