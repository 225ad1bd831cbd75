"""What is in proposed regions: classes, boxes, masks, key points."""
from dragon.vm import torch
from dragon.vm.torchvision.models.detection import _utils as det_utils
from dragon.vm.torchvision.models.detection._keypoints import (  # noqa: F401
    heatmaps_to_keypoints, keypointrcnn_inference, keypointrcnn_loss, keypoints_to_heatmap)
from dragon.vm.torchvision.models.detection._masks import (  # noqa: F401
    expand_boxes, expand_masks, maskrcnn_inference, maskrcnn_loss, paste_mask_in_image, paste_masks_in_image,
    project_masks_on_boxes)
from dragon.vm.torchvision.ops import boxes as box_ops

F = torch.nn.functional


def fastrcnn_loss(class_logits, box_regression, labels, regression_targets):
    """Return the losses of classes and of codes, these of the regions with an object."""
    labels, targets = torch.cat(labels, dim=0), torch.cat(regression_targets, dim=0)
    positive = torch.where(labels > 0)[0]
    codes = box_regression.reshape(len(class_logits), box_regression.size(-1) // 4, 4)
    box_loss = F.smooth_l1_loss(codes[positive, labels[positive]], targets[positive], beta=1 / 9, reduction="sum")
    return F.cross_entropy(class_logits, labels), box_loss / labels.numel()


def _check_kinds(targets, has_keypoint):
    for target in targets or ():
        if target["boxes"].dtype not in (torch.float, torch.double, torch.half):
            raise TypeError(f"target boxes must of float type, instead got {target['boxes'].dtype}")
        if target["labels"].dtype != torch.int64:
            raise TypeError(f"target labels must of int64 type, instead got {target['labels'].dtype}")
        if has_keypoint and target["keypoints"].dtype != torch.float32:
            raise TypeError(f"target keypoints must of float type, instead got {target['keypoints'].dtype}")


class RoIHeads(torch.nn.Module):
    """Tell what is in regions.

    Parameters
    ----------
    box_roi_pool, box_head, box_predictor : Module
        Pool the features of regions, work on them, and tell (scores of classes, codes of boxes).
    fg_iou_thresh, bg_iou_thresh : float
        Overlaps from which on a region has an object, and below which it has none.
    batch_size_per_image : int
        How many regions of an image are learnt from.
    positive_fraction : float
        The greatest share of those with an object.
    bbox_reg_weights : Tuple[float, float, float, float]
        As for `BoxCoder`; (10, 10, 5, 5) if None.
    score_thresh, nms_thresh : float
        The least probability of what is found, and the overlap from which on the lesser of two is dropped.
    detections_per_img : int
        How many are found at most.
    mask_roi_pool, mask_head, mask_predictor : Module, optional
        The same for masks.
    keypoint_roi_pool, keypoint_head, keypoint_predictor : Module, optional
        The same for key points.

    """

    def __init__(self, box_roi_pool, box_head, box_predictor, fg_iou_thresh, bg_iou_thresh, batch_size_per_image,
                 positive_fraction, bbox_reg_weights, score_thresh, nms_thresh, detections_per_img, mask_roi_pool=None,
                 mask_head=None, mask_predictor=None, keypoint_roi_pool=None, keypoint_head=None,
                 keypoint_predictor=None):
        super().__init__()
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher = det_utils.Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=False)
        self.fg_bg_sampler = det_utils.BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self.box_coder = det_utils.BoxCoder((10.0, 10.0, 5.0, 5.0) if bbox_reg_weights is None else bbox_reg_weights)
        self.box_roi_pool, self.box_head, self.box_predictor = box_roi_pool, box_head, box_predictor
        self.score_thresh, self.nms_thresh, self.detections_per_img = score_thresh, nms_thresh, detections_per_img
        self.mask_roi_pool, self.mask_head, self.mask_predictor = mask_roi_pool, mask_head, mask_predictor
        self.keypoint_roi_pool, self.keypoint_head = keypoint_roi_pool, keypoint_head
        self.keypoint_predictor = keypoint_predictor

    def has_mask(self):
        """Return whether masks are told."""
        return None not in (self.mask_roi_pool, self.mask_head, self.mask_predictor)

    def has_keypoint(self):
        """Return whether key points are told."""
        return None not in (self.keypoint_roi_pool, self.keypoint_head, self.keypoint_predictor)

    def assign_targets_to_proposals(self, proposals, gt_boxes, gt_labels):
        """Return, for each image, the target of each region, and its class: 0 without, -1 if not learnt from."""
        indices, labels = [], []
        for proposal, boxes, classes in zip(proposals, gt_boxes, gt_labels):
            if boxes.numel() == 0:
                indices.append(torch.zeros((len(proposal),), dtype=torch.int64, device=proposal.device))
                labels.append(torch.zeros((len(proposal),), dtype=torch.int64, device=proposal.device))
                continue
            matched = self.proposal_matcher(self.box_similarity(boxes, proposal))
            indices.append(matched.clamp(min=0))
            label = classes[indices[-1]].to(dtype=torch.int64)
            label[matched == self.proposal_matcher.BELOW_LOW_THRESHOLD] = 0
            label[matched == self.proposal_matcher.BETWEEN_THRESHOLDS] = -1
            labels.append(label)
        return indices, labels

    def subsample(self, labels):
        """Return, for each image, the regions to learn from."""
        return [torch.where(positive | negative)[0] for positive, negative in zip(*self.fg_bg_sampler(labels))]

    def add_gt_proposals(self, proposals, gt_boxes):
        """Return regions with the targets' boxes behind."""
        return [torch.cat(pair) for pair in zip(proposals, gt_boxes)]

    def check_targets(self, targets):
        """Raise ValueError unless each target has what is learnt."""
        if targets is None:
            raise ValueError("targets should not be None")
        for key in ("boxes", "labels", "masks") if self.has_mask() else ("boxes", "labels"):
            if not all(key in target for target in targets):
                raise ValueError(f"Every element of targets should have a {key} key")

    def select_training_samples(self, proposals, targets):
        """Return, for each image, regions to learn from, their targets, classes and codes."""
        self.check_targets(targets)
        boxes = [target["boxes"].to(proposals[0].dtype) for target in targets]
        proposals = self.add_gt_proposals(proposals, boxes)
        indices, labels = self.assign_targets_to_proposals(proposals, boxes, [target["labels"] for target in targets])
        sampled = self.subsample(labels)
        proposals, labels, indices = ([item[index] for item, index in zip(items, sampled)]
                                      for items in (proposals, labels, indices))
        # An image without boxes has regions all the same: they belong to a box of zeros, whose code nobody reads.
        boxes = [box if box.numel() else box.new_zeros((1, 4)) for box in boxes]
        matched = [box[index] for box, index in zip(boxes, indices)]
        return proposals, indices, labels, self.box_coder.encode(matched, proposals)

    def postprocess_detections(self, class_logits, box_regression, proposals, image_shapes):
        """Return, for each image, the boxes found, their probabilities and their classes."""
        counts = [len(proposal) for proposal in proposals]
        all_boxes = self.box_coder.decode(box_regression, proposals).split(counts, 0)
        all_scores = F.softmax(class_logits, -1).split(counts, 0)
        found = []
        for boxes, scores, shape in zip(all_boxes, all_scores, image_shapes):
            boxes = box_ops.clip_boxes_to_image(boxes, shape)
            labels = torch.arange(scores.shape[-1], device=scores.device).view(1, -1).expand_as(scores)
            # Class 0 is what is no object; each other class of a region is an answer of its own.
            boxes, scores, labels = boxes[:, 1:].reshape(-1, 4), scores[:, 1:].reshape(-1), labels[:, 1:].reshape(-1)
            for keep in (lambda: torch.where(scores > self.score_thresh)[0],
                         lambda: box_ops.remove_small_boxes(boxes, min_size=1e-2),
                         lambda: box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)[:self.detections_per_img]):
                index = keep()
                boxes, scores, labels = boxes[index], scores[index], labels[index]
            found.append((boxes, scores, labels))
        return tuple(map(list, zip(*found)))

    def _masks(self, features, regions, image_shapes, result, targets, indices):
        logits = self.mask_predictor(self.mask_head(self.mask_roi_pool(features, regions, image_shapes)))
        if self.training:
            return {"loss_mask": maskrcnn_loss(logits, regions, [target["masks"] for target in targets],
                                               [target["labels"] for target in targets], indices)}
        for masks, answer in zip(maskrcnn_inference(logits, [answer["labels"] for answer in result]), result):
            answer["masks"] = masks
        return {}

    def _keypoints(self, features, regions, image_shapes, result, targets, indices):
        maps = self.keypoint_predictor(self.keypoint_head(self.keypoint_roi_pool(features, regions, image_shapes)))
        if self.training:
            points = [target["keypoints"] for target in targets]
            return {"loss_keypoint": keypointrcnn_loss(maps, regions, points, indices)}
        for points, scores, answer in zip(*keypointrcnn_inference(maps, regions), result):
            answer["keypoints"], answer["keypoints_scores"] = points, scores
        return {}

    def forward(self, features, proposals, image_shapes, targets=None):
        _check_kinds(targets, self.has_keypoint())
        indices = None
        if self.training:
            proposals, indices, labels, codes = self.select_training_samples(proposals, targets)
        logits, moves = self.box_predictor(self.box_head(self.box_roi_pool(features, proposals, image_shapes)))
        result, losses = [], {}
        if self.training:
            losses["loss_classifier"], losses["loss_box_reg"] = fastrcnn_loss(logits, moves, labels, codes)
            # Masks and points are learnt where there is an object.
            positive = [torch.where(label > 0)[0] for label in labels]
            regions, indices = ([item[index] for item, index in zip(items, positive)] for items in (proposals, indices))
        else:
            found = self.postprocess_detections(logits, moves, proposals, image_shapes)
            result = [{"boxes": boxes, "labels": label, "scores": scores} for boxes, scores, label in zip(*found)]
            regions = [item["boxes"] for item in result]
        for there, tell in ((self.has_mask(), self._masks), (self.has_keypoint(), self._keypoints)):
            if there:
                losses.update(tell(features, regions, image_shapes, result, targets, indices))
        return result, losses
