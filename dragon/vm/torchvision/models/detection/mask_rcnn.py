"""Mask R-CNN: regions are proposed, told apart, and cut out."""
from collections import OrderedDict

from dragon.vm import torch
from dragon.vm.torchvision.models._utils import fan_out
from dragon.vm.torchvision.models.detection._define import define_detector, learning_residual_levels, residual_levels
from dragon.vm.torchvision.models.detection.faster_rcnn import (check_backbone, check_kind, FasterRCNN, FROM_NONE,
                                                                FROM_RESNET, region_pool, second_parts)
from dragon.vm.torchvision.models.detection.rpn import rename
from dragon.vm.torchvision.ops import misc as misc_nn_ops, MultiScaleRoIAlign

nn = torch.nn


class MaskRCNN(FasterRCNN):
    """Propose regions, and tell what is in them, with a mask.

    Parameters
    ----------
    backbone : Module
        As for `FasterRCNN`; so are the other arguments.
    mask_roi_pool, mask_head, mask_predictor : Module, optional
        As for `RoIHeads`.

    """

    def __init__(self, backbone, num_classes=None, *args, mask_roi_pool=None, mask_head=None, mask_predictor=None,
                 **kwargs):
        args, (mask_roi_pool, mask_head, mask_predictor) = by_position(
            args, (mask_roi_pool, mask_head, mask_predictor))
        check_kind(mask_roi_pool, "mask_roi_pool", MultiScaleRoIAlign)
        if num_classes is not None and mask_predictor is not None:
            raise ValueError("num_classes should be None when mask_predictor is specified")
        check_backbone(backbone)
        pool = region_pool(14) if mask_roi_pool is None else mask_roi_pool
        head = MaskRCNNHeads(backbone.out_channels, (256,) * 4, 1) if mask_head is None else mask_head
        if mask_predictor is None:
            mask_predictor = MaskRCNNPredictor(256, 256, num_classes)
        super().__init__(backbone, num_classes, *args, **kwargs)
        self.roi_heads.mask_roi_pool, self.roi_heads.mask_head = pool, head
        self.roi_heads.mask_predictor = mask_predictor


def by_position(args, named):
    """Return the arguments of `FasterRCNN` after the classes, and those behind them where they came by position."""
    count = 27  # min_size to bbox_reg_weights
    behind = args[count:]
    return args[:count], (*behind, *named[len(behind):])


class MaskRCNNHeads(nn.Sequential):
    """Convolutions upon the features of a region.

    Parameters
    ----------
    in_channels : int
        The channels that come.
    layers : Sequence[int]
        The channels after each.
    dilation : int
        Of the convolutions.
    norm_layer : Callable, optional
        Normalizes after each.

    """

    _version = 2

    def __init__(self, in_channels, layers, dilation, norm_layer=None):
        super().__init__(*(misc_nn_ops.Conv2dNormActivation(
            before, after, kernel_size=3, stride=1, padding=dilation, dilation=dilation, norm_layer=norm_layer)
            for before, after in zip((in_channels, *layers), layers)))
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                fan_out(layer)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
        if (local_metadata.get("version") or 1) < 2:
            rename(state_dict, prefix, [(f"mask_fcn{index + 1}", f"{index}.0") for index in range(len(self))])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class MaskRCNNPredictor(nn.Sequential):
    """Tell, for each class, the cells of a mask.

    Parameters
    ----------
    in_channels, dim_reduced, num_classes : int
        The channels that come, those between, and the classes.

    """

    def __init__(self, in_channels, dim_reduced, num_classes):
        super().__init__(OrderedDict([("conv5_mask", nn.ConvTranspose2d(in_channels, dim_reduced, 2, 2, 0)),
                                      ("relu", nn.ReLU(inplace=True)),
                                      ("mask_fcn_logits", nn.Conv2d(dim_reduced, num_classes, 1, 1, 0))]))
        for name, parameter in self.named_parameters():
            if "weight" in name:
                nn.init.kaiming_normal_(parameter, mode="fan_out", nonlinearity="relu")


def _first(trained, layers, checkpoint, **kwargs):
    return MaskRCNN(residual_levels(trained, layers, checkpoint), **kwargs)


def _second(trained, layers, checkpoint, **kwargs):
    backbone = learning_residual_levels(layers, checkpoint, norm_layer=nn.BatchNorm2d)
    parts = second_parts(backbone)
    head = MaskRCNNHeads(backbone.out_channels, [256] * 4, 1, norm_layer=nn.BatchNorm2d)
    return MaskRCNN(backbone, **parts, mask_head=head, **kwargs)


define_detector(globals(), "maskrcnn_resnet50_fpn", "MaskRCNN_ResNet50_FPN", _first, FROM_RESNET, plain=("COCO_V1",))
define_detector(globals(), "maskrcnn_resnet50_fpn_v2", "MaskRCNN_ResNet50_FPN_V2", _second, FROM_NONE)
