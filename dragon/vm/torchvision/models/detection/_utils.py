"""What detectors share: drawing samples, boxes as offsets, and which box belongs to which target."""
import math
from collections import OrderedDict

from dragon.vm import torch
from dragon.vm.torchvision.ops import (complete_box_iou_loss, distance_box_iou_loss, FrozenBatchNorm2d,
                                       generalized_box_iou_loss)

F = torch.nn.functional


class BalancedPositiveNegativeSampler:
    """Draw boxes to learn from: a share with an object, the rest without.

    Parameters
    ----------
    batch_size_per_image : int
        How many of an image.
    positive_fraction : float
        The greatest share with an object.

    """

    def __init__(self, batch_size_per_image, positive_fraction):
        self.batch_size_per_image, self.positive_fraction = batch_size_per_image, positive_fraction

    def _drawn(self, like, members, count):
        chosen = members[torch.randperm(members.numel(), device=members.device)[:count]]
        mask = torch.zeros_like(like, dtype=torch.uint8)
        mask[chosen] = 1
        return mask

    def __call__(self, matched_idxs):
        positives, negatives = [], []
        for matched in matched_idxs:
            positive, negative = torch.where(matched >= 1)[0], torch.where(matched == 0)[0]
            count = min(positive.numel(), int(self.batch_size_per_image * self.positive_fraction))
            positives.append(self._drawn(matched, positive, count))
            negatives.append(self._drawn(matched, negative, min(negative.numel(), self.batch_size_per_image - count)))
        return positives, negatives


def _as_centres(boxes):
    """Return centres and sides (x, y, width, height) of boxes, each as a column."""
    left, top, right, bottom = boxes[:, 0:4].split(1, dim=1)
    width, height = right - left, bottom - top
    return left + 0.5 * width, top + 0.5 * height, width, height


def encode_boxes(reference_boxes, proposals, weights):
    """Return how to move and to stretch proposals into the boxes they belong to, weighed."""
    x, y, width, height = _as_centres(reference_boxes)
    from_x, from_y, from_width, from_height = _as_centres(proposals)
    return torch.cat((weights[0] * (x - from_x) / from_width, weights[1] * (y - from_y) / from_height,
                      weights[2] * torch.log(width / from_width), weights[3] * torch.log(height / from_height)), dim=1)


class BoxCoder:
    """Boxes as movements and stretches of others.

    Parameters
    ----------
    weights : Tuple[float, float, float, float]
        By which movements across and down, and stretches, are multiplied.
    bbox_xform_clip : float, optional
        The greatest logarithm of a stretch.

    """

    def __init__(self, weights, bbox_xform_clip=math.log(1000.0 / 16)):
        self.weights, self.bbox_xform_clip = weights, bbox_xform_clip

    def encode(self, reference_boxes, proposals):
        """Return the codes of several images' boxes."""
        counts = [len(boxes) for boxes in reference_boxes]
        return self.encode_single(torch.cat(reference_boxes), torch.cat(proposals)).split(counts, 0)

    def encode_single(self, reference_boxes, proposals):
        """Return the codes of boxes."""
        weights = torch.as_tensor(self.weights, dtype=reference_boxes.dtype, device=reference_boxes.device)
        return encode_boxes(reference_boxes, proposals, weights)

    def decode(self, rel_codes, boxes):
        """Return the boxes (all images' boxes, classes, 4) that codes tell."""
        if not isinstance(boxes, (list, tuple)) or not isinstance(rel_codes, torch.Tensor):
            raise AssertionError(f"BoxCoder.decode: got codes {type(rel_codes).__name__} and boxes "
                                 f"{type(boxes).__name__}, expected a Tensor and a list of them")
        count = sum(len(box) for box in boxes)
        codes = rel_codes.reshape(count, -1) if count > 0 else rel_codes
        found = self.decode_single(codes, torch.cat(boxes, dim=0))
        return found.reshape(count, -1, 4) if count > 0 else found

    def decode_single(self, rel_codes, boxes):
        """Return the boxes (N, classes * 4) that codes tell."""
        x, y, width, height = _as_centres(boxes.to(rel_codes.dtype))
        move_x, move_y, wide, tall = (rel_codes[:, part::4] / weight for part, weight in enumerate(self.weights))
        x, y = move_x * width + x, move_y * height + y
        half_width = 0.5 * (torch.exp(torch.clamp(wide, max=self.bbox_xform_clip)) * width)
        half_height = 0.5 * (torch.exp(torch.clamp(tall, max=self.bbox_xform_clip)) * height)
        corners = (x - half_width, y - half_height, x + half_width, y + half_height)
        return torch.stack(corners, dim=2).flatten(1)


class BoxLinearCoder:
    """Boxes as the distances from a centre to their sides.

    Parameters
    ----------
    normalize_by_size : bool, optional, default=True
        Whether distances are told in sides of the box around the centre.

    """

    def __init__(self, normalize_by_size=True):
        self.normalize_by_size = normalize_by_size

    @staticmethod
    def _frame(boxes):
        """Return (centre, centre), and (sides, sides), of boxes."""
        near, far = boxes[..., :2], boxes[..., 2:]
        centre = 0.5 * (near + far)
        return torch.cat((centre, centre), -1), torch.cat((far - near, far - near), -1)

    def encode(self, reference_boxes, proposals):
        """Return the distances from the centres of boxes to the sides of others."""
        centre, sides = self._frame(reference_boxes)
        sign = torch.tensor([1, 1, -1, -1], dtype=centre.dtype, device=centre.device)
        distances = (centre - proposals) * sign
        return distances / sides if self.normalize_by_size else distances

    def decode(self, rel_codes, boxes):
        """Return the boxes that distances tell."""
        centre, sides = self._frame(boxes.to(dtype=rel_codes.dtype))
        codes = rel_codes * sides if self.normalize_by_size else rel_codes
        return torch.cat((centre[..., :2] - codes[..., :2], centre[..., 2:] + codes[..., 2:]), -1)


class Matcher:
    """Tell for each box the target it overlaps most, or that it overlaps too little.

    Parameters
    ----------
    high_threshold : float
        From this overlap on a box belongs to the target.
    low_threshold : float
        Below this overlap it belongs to none.
    allow_low_quality_matches : bool, optional, default=False
        Whether the best boxes of a target belong to it all the same.

    """

    BELOW_LOW_THRESHOLD = -1
    BETWEEN_THRESHOLDS = -2

    def __init__(self, high_threshold, low_threshold, allow_low_quality_matches=False):
        if low_threshold > high_threshold:
            raise AssertionError(f"Matcher: got low_threshold={low_threshold}, expected at most {high_threshold}")
        self.high_threshold, self.low_threshold = high_threshold, low_threshold
        self.allow_low_quality_matches = allow_low_quality_matches

    def __call__(self, match_quality_matrix):
        if match_quality_matrix.numel() == 0:
            missing = "ground-truth" if match_quality_matrix.shape[0] == 0 else "proposal"
            raise ValueError(f"No {missing} boxes available for one of the images during training")
        values, nearest = match_quality_matrix.max(dim=0)
        matches = nearest.clone()
        matches[values < self.low_threshold] = self.BELOW_LOW_THRESHOLD
        matches[(values >= self.low_threshold) & (values < self.high_threshold)] = self.BETWEEN_THRESHOLDS
        if self.allow_low_quality_matches:
            self.set_low_quality_matches_(matches, nearest, match_quality_matrix)
        return matches

    def set_low_quality_matches_(self, matches, all_matches, match_quality_matrix):
        """Give each target the boxes that overlap it most, ties and all."""
        best = match_quality_matrix.max(dim=1)[0]
        chosen = torch.where(match_quality_matrix == best[:, None])[1]
        matches[chosen] = all_matches[chosen]


class SSDMatcher(Matcher):
    """Tell for each box its target, and give each target at least one box.

    Parameters
    ----------
    threshold : float
        From this overlap on a box belongs to the target.

    """

    def __init__(self, threshold):
        super().__init__(threshold, threshold, allow_low_quality_matches=False)

    def __call__(self, match_quality_matrix):
        matches = super().__call__(match_quality_matrix)
        best = match_quality_matrix.max(dim=1)[1]
        matches[best] = torch.arange(best.size(0), dtype=torch.int64, device=best.device)
        return matches


def overwrite_eps(model, eps):
    """Give a model's frozen normalizations another number to add to variances."""
    for module in model.modules():
        if isinstance(module, FrozenBatchNorm2d):
            module.eps = eps


def as_levels(features):
    """Return features as a dictionary of levels, one named "0" where a tensor came."""
    return OrderedDict([("0", features)]) if isinstance(features, torch.Tensor) else features


def retrieve_out_channels(model, size):
    """Return the channels of the levels that a model makes, from an image of a size (width, height)."""
    before = model.training
    model.eval()
    with torch.no_grad():
        device = next(model.parameters()).device
        levels = as_levels(model(torch.zeros((1, 3, size[1], size[0]), device=device)))
    model.train(before)
    return [level.size(1) for level in levels.values()]


def _topk_min(input, orig_kval, axis):
    """Return a number, or the length of an axis if that is less."""
    return min(orig_kval, input.size(axis))


_OVERLAP_LOSSES = {"ciou": complete_box_iou_loss, "diou": distance_box_iou_loss, "giou": generalized_box_iou_loss}


def _box_loss(type, box_coder, anchors_per_image, matched_gt_boxes_per_image, bbox_regression_per_image, cnf=None):
    """Return the summed loss of codes: "l1" or "smooth_l1" of the codes, "ciou", "diou" or "giou" of the boxes."""
    cnf = cnf or {}
    if type in ("l1", "smooth_l1"):
        target = box_coder.encode_single(matched_gt_boxes_per_image, anchors_per_image)
        if type == "l1":
            return F.l1_loss(bbox_regression_per_image, target, reduction="sum")
        return F.smooth_l1_loss(bbox_regression_per_image, target, reduction="sum", beta=cnf.get("beta", 1.0))
    if type not in _OVERLAP_LOSSES:
        raise AssertionError(f"Unsupported loss: {type}")
    boxes = box_coder.decode_single(bbox_regression_per_image, anchors_per_image)
    return _OVERLAP_LOSSES[type](boxes, matched_gt_boxes_per_image, reduction="sum", eps=cnf.get("eps", 1e-7))
