"""Networks for classes, cut into levels with a pyramid upon them."""
from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torchvision.models import mobilenet, resnet
from dragon.vm.torchvision.models._api import Choice, get_model_weights
from dragon.vm.torchvision.models._utils import IntermediateLayerGetter, kwonly_to_pos_or_kw
from dragon.vm.torchvision.ops import misc as misc_nn_ops
from dragon.vm.torchvision.ops.feature_pyramid_network import FeaturePyramidNetwork, LastLevelMaxPool

nn = torch.nn


class BackboneWithFPN(nn.Module):
    """A network's levels, with a pyramid upon them.

    Parameters
    ----------
    backbone : Module
        The network; its children are called one after another.
    return_layers : Dict[str, str]
        The children that make levels, and the levels' names.
    in_channels_list : List[int]
        The channels of the levels.
    out_channels : int
        The channels of the pyramid.
    extra_blocks : ExtraFPNBlock, optional
        Makes further levels; `LastLevelMaxPool` if None.
    norm_layer : Callable, optional
        Normalizes after the pyramid's convolutions.

    """

    def __init__(self, backbone, return_layers, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        self.body = IntermediateLayerGetter(backbone, return_layers=return_layers)
        self.fpn = FeaturePyramidNetwork(in_channels_list, out_channels, norm_layer=norm_layer,
                                         extra_blocks=LastLevelMaxPool() if extra_blocks is None else extra_blocks)
        self.out_channels = out_channels

    def forward(self, x):
        return self.fpn(self.body(x))


def _network(module, backbone_name, weights, old, norm_layer):
    """Return a network for classes by its name, with a checkpoint that may be named in the manner of old."""
    make = getattr(module, backbone_name)
    given = {**({} if weights is _MISSING else {"weights": weights}), **old}
    if not given:
        raise TypeError(f"{backbone_name}: got no weights, expected a checkpoint or None")
    Choice(get_model_weights(make), member="IMAGENET1K_V1").settle(backbone_name, "weights", given)
    weights = given.pop("weights")
    if given:
        raise TypeError(f"got an unexpected argument {next(iter(given))!r}")
    return make(weights=weights, norm_layer=norm_layer)


_MISSING = object()


@kwonly_to_pos_or_kw
def resnet_fpn_backbone(*, backbone_name, weights=_MISSING, norm_layer=misc_nn_ops.FrozenBatchNorm2d,
                        trainable_layers=3, returned_layers=None, extra_blocks=None, **old):
    """Return a residual network with a pyramid upon it.

    Parameters
    ----------
    backbone_name : str
        The network, such as "resnet50".
    weights : Optional[WeightsEnum]
        Its checkpoint.
    norm_layer : Callable, optional
        Its normalization; one that stays as it is.
    trainable_layers : int, optional, default=3
        How many stages learn, from the last back.
    returned_layers : List[int], optional
        The stages that make levels, 1 to 4; all if None.
    extra_blocks : ExtraFPNBlock, optional
        Makes further levels.
    old : Any
        `pretrained`, in the manner of old.

    Returns
    -------
    BackboneWithFPN
        The network.

    """
    return _resnet_fpn_extractor(_network(resnet, backbone_name, weights, old, norm_layer), trainable_layers,
                                 returned_layers, extra_blocks)


def _resnet_fpn_extractor(backbone, trainable_layers, returned_layers=None, extra_blocks=None, norm_layer=None):
    if trainable_layers < 0 or trainable_layers > 5:
        raise ValueError(f"Trainable layers should be in the range [0,5], got {trainable_layers}")
    learning = ("layer4", "layer3", "layer2", "layer1", "conv1")[:trainable_layers]
    learning += ("bn1",) if trainable_layers == 5 else ()
    for name, parameter in backbone.named_parameters():
        if not name.startswith(learning):
            parameter.requires_grad_(False)
    returned_layers = [1, 2, 3, 4] if returned_layers is None else returned_layers
    if min(returned_layers) <= 0 or max(returned_layers) >= 5:
        raise ValueError(f"Each returned layer should be in the range [1,4]. Got {returned_layers}")
    levels = {f"layer{stage}": str(level) for level, stage in enumerate(returned_layers)}
    channels = [backbone.inplanes // 8 * 2 ** (stage - 1) for stage in returned_layers]
    return BackboneWithFPN(backbone, levels, channels, 256, extra_blocks=extra_blocks, norm_layer=norm_layer)


def _validate_trainable_layers(is_trained, trainable_backbone_layers, max_value, default_value):
    """Return how many stages of a backbone learn: all, where it has learnt nothing yet."""
    if not is_trained:
        if trainable_backbone_layers is not None:
            warnings.warn("Changing trainable_backbone_layers has no effect if neither pretrained nor "
                          "pretrained_backbone have been set to True, falling back to "
                          f"trainable_backbone_layers={max_value} so that all layers are trainable")
        return max_value
    count = default_value if trainable_backbone_layers is None else trainable_backbone_layers
    if count < 0 or count > max_value:
        raise ValueError(f"Trainable backbone layers should be in the range [0,{max_value}], got {count} ")
    return count


def stages(features, trainable_layers):
    """Return where the stages of a MobileNet start; all but the last few of them learn nothing from here on."""
    starts = [0] + [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)] + [len(features) - 1]
    if not 0 <= trainable_layers <= len(starts):
        raise ValueError(f"Trainable layers should be in the range [0,{len(starts)}], got {trainable_layers} ")
    freeze(features, starts, trainable_layers)
    return starts


def freeze(features, starts, trainable_layers):
    """Let nothing learn before the last few stages, told by where they start."""
    last = len(features) if trainable_layers == 0 else starts[len(starts) - trainable_layers]
    for block in features[:last]:
        for parameter in block.parameters():
            parameter.requires_grad_(False)


@kwonly_to_pos_or_kw
def mobilenet_backbone(*, backbone_name, weights=_MISSING, fpn, norm_layer=misc_nn_ops.FrozenBatchNorm2d,
                       trainable_layers=2, returned_layers=None, extra_blocks=None, **old):
    """Return a MobileNet, with a pyramid upon it or without.

    Parameters
    ----------
    backbone_name : str
        The network, such as "mobilenet_v3_large".
    weights : Optional[WeightsEnum]
        Its checkpoint.
    fpn : bool
        Whether there is a pyramid.
    norm_layer : Callable, optional
        Its normalization; one that stays as it is.
    trainable_layers : int, optional, default=2
        How many stages learn, from the last back.
    returned_layers : List[int], optional
        The stages that make levels; the last two if None.
    extra_blocks : ExtraFPNBlock, optional
        Makes further levels.
    old : Any
        `pretrained`, in the manner of old.

    Returns
    -------
    Module
        The network.

    """
    return _mobilenet_extractor(_network(mobilenet, backbone_name, weights, old, norm_layer), fpn, trainable_layers,
                                returned_layers, extra_blocks)


def _mobilenet_extractor(backbone, fpn, trainable_layers, returned_layers=None, extra_blocks=None, norm_layer=None):
    features, out_channels = backbone.features, 256
    starts = stages(features, trainable_layers)
    if not fpn:
        network = nn.Sequential(features, nn.Conv2d(features[-1].out_channels, out_channels, 1))
        network.out_channels = out_channels
        return network
    returned_layers = [len(starts) - 2, len(starts) - 1] if returned_layers is None else returned_layers
    if min(returned_layers) < 0 or max(returned_layers) >= len(starts):
        raise ValueError(f"Each returned layer should be in the range [0,{len(starts) - 1}], got {returned_layers} ")
    levels = {f"{starts[stage]}": str(level) for level, stage in enumerate(returned_layers)}
    channels = [features[starts[stage]].out_channels for stage in returned_layers]
    return BackboneWithFPN(features, levels, channels, out_channels, extra_blocks=extra_blocks, norm_layer=norm_layer)
