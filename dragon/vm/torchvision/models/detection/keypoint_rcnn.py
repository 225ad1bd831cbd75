"""Keypoint R-CNN: regions are proposed, told apart, and points found in them."""
from dragon.vm import torch
from dragon.vm.torchvision.models._utils import fan_out
from dragon.vm.torchvision.models.detection._define import define_detector, residual_levels
from dragon.vm.torchvision.models.detection.faster_rcnn import (check_backbone, check_kind, FasterRCNN, FROM_RESNET,
                                                                region_pool)
from dragon.vm.torchvision.models.detection.mask_rcnn import by_position
from dragon.vm.torchvision.ops import MultiScaleRoIAlign

nn = torch.nn


class KeypointRCNN(FasterRCNN):
    """Propose regions, and tell what is in them, with key points.

    Parameters
    ----------
    backbone : Module
        As for `FasterRCNN`; so are the other arguments.
    min_size : Union[int, Sequence[int]], optional
        The shorter side; from 640 to 800 if None.
    keypoint_roi_pool, keypoint_head, keypoint_predictor : Module, optional
        As for `RoIHeads`.
    num_keypoints : int, optional
        How many points an object has; 17 if None.

    """

    def __init__(self, backbone, num_classes=None, min_size=None, *args, keypoint_roi_pool=None, keypoint_head=None,
                 keypoint_predictor=None, num_keypoints=None, **kwargs):
        sizes = (640, 672, 704, 736, 768, 800) if min_size is None else min_size
        args, (keypoint_roi_pool, keypoint_head, keypoint_predictor, num_keypoints) = by_position(
            (sizes, *args), (keypoint_roi_pool, keypoint_head, keypoint_predictor, num_keypoints))
        check_kind(keypoint_roi_pool, "keypoint_roi_pool", MultiScaleRoIAlign)
        if num_keypoints is not None and keypoint_predictor is not None:
            raise ValueError("num_keypoints should be None when keypoint_predictor is specified")
        check_backbone(backbone)
        pool = region_pool(14) if keypoint_roi_pool is None else keypoint_roi_pool
        head = KeypointRCNNHeads(backbone.out_channels, (512,) * 8) if keypoint_head is None else keypoint_head
        if keypoint_predictor is None:
            keypoint_predictor = KeypointRCNNPredictor(512, 17 if num_keypoints is None else num_keypoints)
        super().__init__(backbone, num_classes, *args, **kwargs)
        self.roi_heads.keypoint_roi_pool, self.roi_heads.keypoint_head = pool, head
        self.roi_heads.keypoint_predictor = keypoint_predictor


class KeypointRCNNHeads(nn.Sequential):
    """Convolutions upon the features of a region.

    Parameters
    ----------
    in_channels : int
        The channels that come.
    layers : Sequence[int]
        The channels after each.

    """

    def __init__(self, in_channels, layers):
        made = []
        for before, after in zip((in_channels, *layers), layers):
            made += [nn.Conv2d(before, after, 3, stride=1, padding=1), nn.ReLU(inplace=True)]
        super().__init__(*made)
        for layer in self.children():
            if isinstance(layer, nn.Conv2d):
                fan_out(layer)


class KeypointRCNNPredictor(nn.Module):
    """Tell a map for each point.

    Parameters
    ----------
    in_channels, num_keypoints : int
        The channels that come, and the points.

    """

    def __init__(self, in_channels, num_keypoints):
        super().__init__()
        self.kps_score_lowres = nn.ConvTranspose2d(in_channels, num_keypoints, 4, stride=2, padding=1)
        fan_out(self.kps_score_lowres)
        self.up_scale, self.out_channels = 2, num_keypoints

    def forward(self, x):
        return nn.functional.interpolate(self.kps_score_lowres(x), scale_factor=float(self.up_scale), mode="bilinear",
                                         align_corners=False, recompute_scale_factor=False)


def _make(trained, layers, checkpoint, **kwargs):
    return KeypointRCNN(residual_levels(trained, layers, checkpoint), **kwargs)


define_detector(globals(), "keypointrcnn_resnet50_fpn", "KeypointRCNN_ResNet50_FPN", _make, FROM_RESNET, settled={
    "num_classes": ("categories", 2), "num_keypoints": ("keypoint_names", 17)}, plain=("COCO_V1",))
