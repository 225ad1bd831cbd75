"""The proposal of regions in which there may be an object."""
from dragon.vm import torch
from dragon.vm.torchvision.models.detection import _utils as det_utils
from dragon.vm.torchvision.models.detection.anchor_utils import AnchorGenerator  # noqa: F401
from dragon.vm.torchvision.ops import boxes as box_ops, Conv2dNormActivation

nn, F = torch.nn, torch.nn.functional


def rename(state_dict, prefix, pairs):
    """Give the weights and biases of layers in a checkpoint of old their names of today."""
    for old, new in pairs:
        for kind in ("weight", "bias"):
            if f"{prefix}{old}.{kind}" in state_dict:
                state_dict[f"{prefix}{new}.{kind}"] = state_dict.pop(f"{prefix}{old}.{kind}")


def draw_small(layers, std=0.01):
    """Draw the weights of convolutions with a deviation; no bias."""
    for layer in layers:
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, std=std)
            if layer.bias is not None:
                nn.init.constant_(layer.bias, 0)


class RPNHead(nn.Module):
    """Tell for each anchor whether there is an object, and how to move the anchor.

    Parameters
    ----------
    in_channels : int
        The channels of the features.
    num_anchors : int
        The anchors of a cell.
    conv_depth : int, optional, default=1
        Convolutions before.

    """

    _version = 2

    def __init__(self, in_channels, num_anchors, conv_depth=1):
        super().__init__()
        self.conv = nn.Sequential(*(Conv2dNormActivation(in_channels, in_channels, kernel_size=3, norm_layer=None)
                                    for _ in range(conv_depth)))
        self.cls_logits = nn.Conv2d(in_channels, num_anchors, kernel_size=1, stride=1)
        self.bbox_pred = nn.Conv2d(in_channels, num_anchors * 4, kernel_size=1, stride=1)
        draw_small(self.modules())

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        if (local_metadata.get("version") or 1) < 2:
            rename(state_dict, prefix, [("conv", "conv.0.0")])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def forward(self, x):
        hidden = [self.conv(feature) for feature in x]
        return [self.cls_logits(item) for item in hidden], [self.bbox_pred(item) for item in hidden]


def permute_and_flatten(layer, N, A, C, H, W):
    """Return (N, cells * A, C) of what a convolution tells of A anchors in each cell."""
    return layer.view(N, -1, C, H, W).permute(0, 3, 4, 1, 2).reshape(N, -1, C)


def anchors_first(layer, columns):
    """Return (N, anchors, columns) of what a convolution tells of anchors."""
    count, _, height, width = layer.shape
    return permute_and_flatten(layer, count, -1, columns, height, width)


def concat_box_prediction_layers(box_cls, box_regression):
    """Return scores and codes of all images' and all levels' anchors, one a row."""
    classes, codes = [], []
    for scores, moves in zip(box_cls, box_regression):
        anchors = moves.shape[1] // 4
        classes.append(anchors_first(scores, scores.shape[1] // anchors))
        codes.append(anchors_first(moves, 4))
    return torch.cat(classes, dim=1).flatten(0, -2), torch.cat(codes, dim=1).reshape(-1, 4)


class RegionProposalNetwork(nn.Module):
    """Propose regions: anchors, moved as the head tells, the best that do not overlap much.

    Parameters
    ----------
    anchor_generator : Module
        Makes the anchors.
    head : Module
        Tells scores and movements.
    fg_iou_thresh, bg_iou_thresh : float
        Overlaps from which on an anchor has an object, and below which it has none.
    batch_size_per_image : int
        How many anchors of an image are learnt from.
    positive_fraction : float
        The greatest share of those with an object.
    pre_nms_top_n, post_nms_top_n : Dict[str, int]
        How many are kept of a level before, and of an image after those that overlap are dropped, in "training" and
        "testing".
    nms_thresh : float
        The overlap from which on the lesser of two is dropped.
    score_thresh : float, optional, default=0.0
        The least probability of an object.

    """

    def __init__(self, anchor_generator, head, fg_iou_thresh, bg_iou_thresh, batch_size_per_image, positive_fraction,
                 pre_nms_top_n, post_nms_top_n, nms_thresh, score_thresh=0.0):
        super().__init__()
        self.anchor_generator, self.head = anchor_generator, head
        self.box_coder = det_utils.BoxCoder(weights=(1.0, 1.0, 1.0, 1.0))
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher = det_utils.Matcher(fg_iou_thresh, bg_iou_thresh, allow_low_quality_matches=True)
        self.fg_bg_sampler = det_utils.BalancedPositiveNegativeSampler(batch_size_per_image, positive_fraction)
        self._pre_nms_top_n, self._post_nms_top_n = pre_nms_top_n, post_nms_top_n
        self.nms_thresh, self.score_thresh, self.min_size = nms_thresh, score_thresh, 1e-3

    def pre_nms_top_n(self):
        """Return how many of a level are kept at first."""
        return self._pre_nms_top_n["training" if self.training else "testing"]

    def post_nms_top_n(self):
        """Return how many of an image are kept at last."""
        return self._post_nms_top_n["training" if self.training else "testing"]

    def assign_targets_to_anchors(self, anchors, targets):
        """Return, for each image, 1, 0 or -1 (not learnt from) for each anchor, and the boxes they belong to."""
        labels, matched_boxes = [], []
        for anchor, target in zip(anchors, targets):
            boxes = target["boxes"]
            if boxes.numel() == 0:
                matched_boxes.append(torch.zeros(anchor.shape, dtype=torch.float32, device=anchor.device))
                labels.append(torch.zeros((len(anchor),), dtype=torch.float32, device=anchor.device))
                continue
            matched = self.proposal_matcher(self.box_similarity(boxes, anchor))
            label = (matched >= 0).to(dtype=torch.float32)
            label[matched == self.proposal_matcher.BETWEEN_THRESHOLDS] = -1.0
            labels.append(label)
            matched_boxes.append(boxes[matched.clamp(min=0)])
        return labels, matched_boxes

    def _get_top_n_idx(self, objectness, num_anchors_per_level):
        found, offset = [], 0
        for level in objectness.split(num_anchors_per_level, 1):
            best = level.topk(det_utils._topk_min(level, self.pre_nms_top_n(), 1), dim=1)[1]
            found.append(best + offset)
            offset += level.shape[1]
        return torch.cat(found, dim=1)

    def filter_proposals(self, proposals, objectness, image_shapes, num_anchors_per_level):
        """Return, for each image, the boxes that are kept, and their probabilities."""
        count, device = proposals.shape[0], proposals.device
        objectness = objectness.detach().reshape(count, -1)
        levels = torch.cat([torch.full((size,), level, dtype=torch.int64, device=device)
                            for level, size in enumerate(num_anchors_per_level)])
        best, rows = self._get_top_n_idx(objectness, num_anchors_per_level), torch.arange(count, device=device)[:, None]
        kept_boxes, kept_scores = [], []
        for boxes, scores, level, shape in zip(proposals[rows, best], torch.sigmoid(objectness[rows, best]),
                                               levels[best], image_shapes):
            boxes = box_ops.clip_boxes_to_image(boxes, shape)
            for keep in (lambda: box_ops.remove_small_boxes(boxes, self.min_size),
                         lambda: torch.where(scores >= self.score_thresh)[0],
                         lambda: box_ops.batched_nms(boxes, scores, level, self.nms_thresh)[:self.post_nms_top_n()]):
                index = keep()
                boxes, scores, level = boxes[index], scores[index], level[index]
            kept_boxes.append(boxes)
            kept_scores.append(scores)
        return kept_boxes, kept_scores

    def compute_loss(self, objectness, pred_bbox_deltas, labels, regression_targets):
        """Return the losses of scores and of codes, of a sample of the anchors."""
        positive, negative = (torch.where(torch.cat(part, dim=0))[0] for part in self.fg_bg_sampler(labels))
        sampled = torch.cat([positive, negative], dim=0)
        labels, targets = torch.cat(labels, dim=0), torch.cat(regression_targets, dim=0)
        box_loss = F.smooth_l1_loss(pred_bbox_deltas[positive], targets[positive], beta=1 / 9,
                                    reduction="sum") / sampled.numel()
        return F.binary_cross_entropy_with_logits(objectness.flatten()[sampled], labels[sampled]), box_loss

    def forward(self, images, features, targets=None):
        levels = list(features.values())
        objectness, moves = self.head(levels)
        anchors = self.anchor_generator(images, levels)
        sizes = [level[0].numel() for level in objectness]
        objectness, moves = concat_box_prediction_layers(objectness, moves)
        # Proposals are where to look next, not what is learnt: no gradient goes through them.
        proposals = self.box_coder.decode(moves.detach(), anchors).view(len(anchors), -1, 4)
        boxes, _ = self.filter_proposals(proposals, objectness, images.image_sizes, sizes)
        if not self.training:
            return boxes, {}
        if targets is None:
            raise ValueError("targets should not be None")
        labels, matched_boxes = self.assign_targets_to_anchors(anchors, targets)
        codes = self.box_coder.encode(matched_boxes, anchors)
        loss_objectness, loss_box = self.compute_loss(objectness, moves, labels, codes)
        return boxes, {"loss_objectness": loss_objectness, "loss_rpn_box_reg": loss_box}
