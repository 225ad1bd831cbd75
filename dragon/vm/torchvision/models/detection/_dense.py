"""Detectors in one step: scores and codes of all anchors, and the best of them that do not overlap much."""
from dragon.vm import torch
from dragon.vm.torchvision.models.detection import _utils as det_utils
from dragon.vm.torchvision.models.detection.faster_rcnn import MEAN, STD
from dragon.vm.torchvision.models.detection.generalized_rcnn import Detector
from dragon.vm.torchvision.models.detection.transform import GeneralizedRCNNTransform
from dragon.vm.torchvision.ops import boxes as box_ops


class Dense(Detector):
    """The base of detectors in one step.

    Parameters
    ----------
    backbone, anchor_generator, head : Module
        Make levels of features, make the anchors, and tell of them.
    sizes : Tuple[int, int]
        The shorter side, and the greatest longer one.
    image_mean, image_std : Optional[List[float]]
        Of each channel; ImageNet's if None.
    score_thresh, nms_thresh : float
        The least score of what is found, and the overlap from which on the lesser of two is dropped.
    detections_per_img, topk_candidates : int
        How many are found at most, and how many of a level are looked at.
    kwargs : Any
        As for `GeneralizedRCNNTransform`.

    """

    def __init__(self, backbone, anchor_generator, head, sizes, image_mean, image_std, score_thresh, nms_thresh,
                 detections_per_img, topk_candidates, **kwargs):
        super().__init__()
        self.backbone, self.anchor_generator, self.head = backbone, anchor_generator, head
        self.transform = GeneralizedRCNNTransform(*sizes, MEAN if image_mean is None else image_mean,
                                                  STD if image_std is None else image_std, **kwargs)
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates

    def _best(self, boxes, scores, labels):
        """Return the best of an image's candidates, each the parts of its levels."""
        boxes, scores, labels = (torch.cat(parts, dim=0) for parts in (boxes, scores, labels))
        keep = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)[:self.detections_per_img]
        return {"boxes": boxes[keep], "scores": scores[keep], "labels": labels[keep]}


class Levelled(Dense):
    """The base of detectors whose candidates are chosen level by level."""

    def _answer(self, images, features, targets):
        levels = list(features.values())
        outputs = self.head(levels)
        anchors = self.anchor_generator(images, levels)
        cells = [level.size(2) * level.size(3) for level in levels]
        if self.training:
            return self.compute_loss(targets, outputs, anchors, *self._for_loss(cells)), []
        each = outputs["cls_logits"].size(1) // sum(cells)
        counts = [cell * each for cell in cells]
        parts = {name: list(output.split(counts, dim=1)) for name, output in outputs.items()}
        anchors = [list(anchor.split(counts)) for anchor in anchors]
        return {}, self.postprocess_detections(parts, anchors, images.image_sizes)

    def _for_loss(self, cells):
        return ()

    def _candidates(self, scores, codes, anchors, image_shape, decode):
        """Return boxes, scores and labels of a level's best."""
        classes = scores.shape[-1]
        scores = scores.flatten()
        members = torch.where(scores > self.score_thresh)[0]
        best, order = scores[members].topk(det_utils._topk_min(members, self.topk_candidates, 0))
        members = members[order]
        rows = torch.div(members, classes, rounding_mode="floor")
        return box_ops.clip_boxes_to_image(decode(codes[rows], anchors[rows]), image_shape), best, members % classes
