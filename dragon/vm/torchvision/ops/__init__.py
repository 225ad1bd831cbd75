"""Operators for detection, and the blocks that models are built from."""
from dragon.vm.torchvision.ops import _registered  # noqa: F401
from dragon.vm.torchvision.ops.boxes import (batched_nms, box_area, box_convert, box_iou, clip_boxes_to_image,
                                             complete_box_iou, distance_box_iou, generalized_box_iou, masks_to_boxes,
                                             nms, remove_small_boxes)
from dragon.vm.torchvision.ops.ciou_loss import complete_box_iou_loss
from dragon.vm.torchvision.ops.deform_conv import deform_conv2d, DeformConv2d
from dragon.vm.torchvision.ops.diou_loss import distance_box_iou_loss
from dragon.vm.torchvision.ops.drop_block import drop_block2d, drop_block3d, DropBlock2d, DropBlock3d
from dragon.vm.torchvision.ops.feature_pyramid_network import FeaturePyramidNetwork
from dragon.vm.torchvision.ops.focal_loss import sigmoid_focal_loss
from dragon.vm.torchvision.ops.giou_loss import generalized_box_iou_loss
from dragon.vm.torchvision.ops.misc import (Conv2dNormActivation, Conv3dNormActivation, FrozenBatchNorm2d, MLP,
                                            Permute, SqueezeExcitation)
from dragon.vm.torchvision.ops.poolers import MultiScaleRoIAlign
from dragon.vm.torchvision.ops.ps_roi_align import ps_roi_align, PSRoIAlign
from dragon.vm.torchvision.ops.ps_roi_pool import ps_roi_pool, PSRoIPool
from dragon.vm.torchvision.ops.roi_align import roi_align, RoIAlign
from dragon.vm.torchvision.ops.roi_pool import roi_pool, RoIPool
from dragon.vm.torchvision.ops.stochastic_depth import stochastic_depth, StochasticDepth
