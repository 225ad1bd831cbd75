"""Faster R-CNN: regions are proposed, and then told apart."""
from dragon.vm import torch
from dragon.vm.torchvision.models._api import Choice
from dragon.vm.torchvision.models._utils import fan_out
from dragon.vm.torchvision.models.detection._define import define_detector, learning_residual_levels, residual_levels
from dragon.vm.torchvision.models.detection.anchor_utils import AnchorGenerator
from dragon.vm.torchvision.models.detection.backbone_utils import _mobilenet_extractor
from dragon.vm.torchvision.models.detection.generalized_rcnn import GeneralizedRCNN
from dragon.vm.torchvision.models.detection.roi_heads import RoIHeads
from dragon.vm.torchvision.models.detection.rpn import RegionProposalNetwork, RPNHead
from dragon.vm.torchvision.models.detection.transform import GeneralizedRCNNTransform
from dragon.vm.torchvision.models.mobilenetv3 import mobilenet_v3_large, MobileNet_V3_Large_Weights
from dragon.vm.torchvision.models.resnet import ResNet50_Weights
from dragon.vm.torchvision.ops import misc as misc_nn_ops, MultiScaleRoIAlign

nn, F = torch.nn, torch.nn.functional
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def _default_anchorgen():
    return AnchorGenerator(((32,), (64,), (128,), (256,), (512,)), ((0.5, 1.0, 2.0),) * 5)


def check_kind(value, name, kind):
    """Raise TypeError unless an argument is of a class, or None."""
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"{name} should be of type {kind.__name__} or None instead of {type(value)}")


def check_backbone(backbone):
    """Raise ValueError unless a backbone tells its channels."""
    if not hasattr(backbone, "out_channels"):
        raise ValueError("backbone should contain an attribute out_channels specifying the number of output channels "
                         "(assumed to be the same for all the levels)")


def region_pool(size):
    """Return the pooling of regions from the four levels of a pyramid."""
    return MultiScaleRoIAlign(featmap_names=["0", "1", "2", "3"], output_size=size, sampling_ratio=2)


class FasterRCNN(GeneralizedRCNN):
    """Propose regions, and tell what is in them.

    Parameters
    ----------
    backbone : Module
        Makes levels of features, and tells its `out_channels`.
    num_classes : int, optional
        The classes, with the one of no object; None where `box_predictor` is given.
    min_size, max_size, image_mean, image_std : optional
        As for `GeneralizedRCNNTransform`.
    rpn_anchor_generator, rpn_head : Module, optional
        As for `RegionProposalNetwork`; so are the other arguments that begin with "rpn".
    box_roi_pool, box_head, box_predictor : Module, optional
        As for `RoIHeads`; so are the other arguments that begin with "box".
    bbox_reg_weights : Tuple[float, float, float, float], optional
        As for `BoxCoder`.
    kwargs : Any
        As for `GeneralizedRCNNTransform`.

    """

    def __init__(self, backbone, num_classes=None, min_size=800, max_size=1333, image_mean=None, image_std=None,
                 rpn_anchor_generator=None, rpn_head=None, rpn_pre_nms_top_n_train=2000, rpn_pre_nms_top_n_test=1000,
                 rpn_post_nms_top_n_train=2000, rpn_post_nms_top_n_test=1000, rpn_nms_thresh=0.7,
                 rpn_fg_iou_thresh=0.7, rpn_bg_iou_thresh=0.3, rpn_batch_size_per_image=256,
                 rpn_positive_fraction=0.5, rpn_score_thresh=0.0, box_roi_pool=None, box_head=None,
                 box_predictor=None, box_score_thresh=0.05, box_nms_thresh=0.5, box_detections_per_img=100,
                 box_fg_iou_thresh=0.5, box_bg_iou_thresh=0.5, box_batch_size_per_image=512,
                 box_positive_fraction=0.25, bbox_reg_weights=None, **kwargs):
        check_backbone(backbone)
        check_kind(rpn_anchor_generator, "rpn_anchor_generator", AnchorGenerator)
        check_kind(box_roi_pool, "box_roi_pool", MultiScaleRoIAlign)
        if (num_classes is None) == (box_predictor is None):
            raise ValueError("num_classes should be None when box_predictor is specified" if box_predictor is not None
                             else "num_classes should not be None when box_predictor is not specified")
        channels = backbone.out_channels
        anchors = rpn_anchor_generator or _default_anchorgen()
        if rpn_head is None:
            rpn_head = RPNHead(channels, anchors.num_anchors_per_location()[0])
        rpn = RegionProposalNetwork(
            anchors, rpn_head, rpn_fg_iou_thresh, rpn_bg_iou_thresh, rpn_batch_size_per_image, rpn_positive_fraction,
            {"training": rpn_pre_nms_top_n_train, "testing": rpn_pre_nms_top_n_test},
            {"training": rpn_post_nms_top_n_train, "testing": rpn_post_nms_top_n_test}, rpn_nms_thresh,
            score_thresh=rpn_score_thresh)
        box_roi_pool = region_pool(7) if box_roi_pool is None else box_roi_pool
        if box_head is None:
            box_head = TwoMLPHead(channels * box_roi_pool.output_size[0] ** 2, 1024)
        if box_predictor is None:
            box_predictor = FastRCNNPredictor(1024, num_classes)
        heads = RoIHeads(box_roi_pool, box_head, box_predictor, box_fg_iou_thresh, box_bg_iou_thresh,
                         box_batch_size_per_image, box_positive_fraction, bbox_reg_weights, box_score_thresh,
                         box_nms_thresh, box_detections_per_img)
        transform = GeneralizedRCNNTransform(min_size, max_size, MEAN if image_mean is None else image_mean,
                                             STD if image_std is None else image_std, **kwargs)
        super().__init__(backbone, rpn, heads, transform)


class TwoMLPHead(nn.Module):
    """Two linear layers upon the features of a region.

    Parameters
    ----------
    in_channels, representation_size : int
        The features that come, and those between and after.

    """

    def __init__(self, in_channels, representation_size):
        super().__init__()
        self.fc6 = nn.Linear(in_channels, representation_size)
        self.fc7 = nn.Linear(representation_size, representation_size)

    def forward(self, x):
        return F.relu(self.fc7(F.relu(self.fc6(x.flatten(start_dim=1)))))


class FastRCNNConvFCHead(nn.Sequential):
    """Convolutions, and then linear layers, upon the features of a region.

    Parameters
    ----------
    input_size : Tuple[int, int, int]
        Channels, height and width of what comes.
    conv_layers, fc_layers : List[int]
        The channels after each convolution, and the features after each linear layer.
    norm_layer : Callable, optional
        Normalizes after convolutions.

    """

    def __init__(self, input_size, conv_layers, fc_layers, norm_layer=None):
        before, height, width = input_size
        blocks = []
        for channels in conv_layers:
            blocks.append(misc_nn_ops.Conv2dNormActivation(before, channels, norm_layer=norm_layer))
            before = channels
        blocks.append(nn.Flatten())
        before *= height * width
        for features in fc_layers:
            blocks += [nn.Linear(before, features), nn.ReLU(inplace=True)]
            before = features
        super().__init__(*blocks)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                fan_out(layer)


class FastRCNNPredictor(nn.Module):
    """Tell the scores of classes, and for each class how to move the region.

    Parameters
    ----------
    in_channels, num_classes : int
        The features that come, and the classes.

    """

    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.cls_score = nn.Linear(in_channels, num_classes)
        self.bbox_pred = nn.Linear(in_channels, num_classes * 4)

    def forward(self, x):
        if x.dim() == 4 and tuple(x.shape[2:]) != (1, 1):
            raise AssertionError("x has the wrong shape, expecting the last two dimensions to be [1,1] instead of "
                                 f"{list(x.shape[2:])}")
        x = x.flatten(start_dim=1)
        return self.cls_score(x), self.bbox_pred(x)


def second_parts(backbone):
    """Return the anchors and heads of the second version: more convolutions, and normalizations that learn."""
    anchors, channels = _default_anchorgen(), backbone.out_channels
    return {"rpn_anchor_generator": anchors,
            "rpn_head": RPNHead(channels, anchors.num_anchors_per_location()[0], conv_depth=2),
            "box_head": FastRCNNConvFCHead((channels, 7, 7), [256] * 4, [1024], norm_layer=nn.BatchNorm2d)}


def _first(trained, layers, checkpoint, **kwargs):
    return FasterRCNN(residual_levels(trained, layers, checkpoint), **kwargs)


def _second(trained, layers, checkpoint, **kwargs):
    backbone = learning_residual_levels(layers, checkpoint, norm_layer=nn.BatchNorm2d)
    return FasterRCNN(backbone, **second_parts(backbone), **kwargs)


def _mobile(defaults):
    def make(trained, layers, checkpoint, **kwargs):
        norm_layer = misc_nn_ops.FrozenBatchNorm2d if trained else nn.BatchNorm2d
        backbone = _mobilenet_extractor(mobilenet_v3_large(norm_layer=norm_layer, **checkpoint), True, layers)
        anchors = AnchorGenerator(((32, 64, 128, 256, 512),) * 3, ((0.5, 1.0, 2.0),) * 3)
        return FasterRCNN(backbone, rpn_anchor_generator=anchors, **{**defaults, **kwargs})
    return make


# The first version starts from a checkpoint of its backbone unless told otherwise; the second from none.
FROM_RESNET = Choice(ResNet50_Weights, ResNet50_Weights.IMAGENET1K_V1, "pretrained_backbone", "IMAGENET1K_V1")
FROM_NONE = Choice(ResNet50_Weights, None, "pretrained_backbone", "IMAGENET1K_V1")
FROM_MOBILE = Choice(MobileNet_V3_Large_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1, "pretrained_backbone",
                     "IMAGENET1K_V1")

define_detector(globals(), "fasterrcnn_resnet50_fpn", "FasterRCNN_ResNet50_FPN", _first, FROM_RESNET,
                plain=("COCO_V1",))
define_detector(globals(), "fasterrcnn_resnet50_fpn_v2", "FasterRCNN_ResNet50_FPN_V2", _second, FROM_NONE)
define_detector(globals(), "fasterrcnn_mobilenet_v3_large_320_fpn", "FasterRCNN_MobileNet_V3_Large_320_FPN", _mobile({
    "min_size": 320, "max_size": 640, "rpn_pre_nms_top_n_test": 150, "rpn_post_nms_top_n_test": 150,
    "rpn_score_thresh": 0.05}), FROM_MOBILE, (6, 3))
define_detector(globals(), "fasterrcnn_mobilenet_v3_large_fpn", "FasterRCNN_MobileNet_V3_Large_FPN",
                _mobile({"rpn_score_thresh": 0.05}), FROM_MOBILE, (6, 3))
