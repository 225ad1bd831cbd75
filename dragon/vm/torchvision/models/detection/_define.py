"""The functions that make detectors: a checkpoint of the whole, or one of the backbone alone."""
from dragon.vm import torch
from dragon.vm.torchvision.models._api import Choice, overwrite, publish, weights_enum
from dragon.vm.torchvision.models.detection._utils import overwrite_eps
from dragon.vm.torchvision.models.detection.backbone_utils import _resnet_fpn_extractor, _validate_trainable_layers
from dragon.vm.torchvision.models.resnet import resnet50
from dragon.vm.torchvision.ops.feature_pyramid_network import LastLevelP6P7
from dragon.vm.torchvision.ops.misc import FrozenBatchNorm2d


def define_detector(namespace, name, enum_name, make, backbone, stages=(5, 3), settled=None, more=(), plain=()):
    """Define a detector's function, and the class of its checkpoints, in a module.

    Parameters
    ----------
    namespace : dict
        The module's globals.
    name : str
        The function's name.
    enum_name : str
        The name of the class, without "_Weights".
    make : Callable
        Makes the model from the classes, whether it has learnt, how many stages learn, and keyword arguments.
    backbone : Choice
        The checkpoints of the backbone.
    stages : Tuple[int, int], optional
        How many stages there are, and how many learn by themselves.
    settled : Dict[str, Tuple[str, int]], optional
        The counts that a checkpoint settles: what of it is counted, and the count without one.
    more : Sequence[str], optional
        Further arguments that the signature shows.
    plain : Sequence[str], optional
        The checkpoints whose frozen normalizations add nothing to variances.

    """
    settled = settled or {"num_classes": ("categories", 91)}
    enum = namespace.setdefault(f"{enum_name}_Weights", weights_enum(f"{enum_name}_Weights"))

    def call(weights, progress, weights_backbone, trainable_backbone_layers, **kwargs):
        for argument, (key, count) in settled.items():
            if kwargs.get(argument) is None:
                kwargs.pop(argument, None)
            if weights is not None:
                overwrite(kwargs, argument, len(weights.meta[key]))
            kwargs.setdefault(argument, count)
        if weights is not None:
            weights_backbone = None
        trained = weights is not None or weights_backbone is not None
        layers = _validate_trainable_layers(trained, trainable_backbone_layers, *stages)
        model = make(trained, layers, {"weights": weights_backbone, "progress": progress}, **kwargs)
        if weights is not None:
            model.load_state_dict(weights.get_state_dict(progress=progress, check_hash=True))
            if weights.name in plain:
                overwrite_eps(model, 0.0)
        return model
    publish(namespace, name, call, {
        "weights": Choice(enum, member=next(iter(enum)).name if len(enum) == 1 else "COCO_V1"), "progress": True,
        **dict.fromkeys(settled), "weights_backbone": backbone, "trainable_backbone_layers": None,
        **dict.fromkeys(more)})


def residual_levels(trained, layers, checkpoint, extra=None, **options):
    """Return a residual network of 50 layers with a pyramid; its normalizations stay as they are if it has learnt."""
    norm_layer = FrozenBatchNorm2d if trained else torch.nn.BatchNorm2d
    return _with_levels(resnet50(norm_layer=norm_layer, **checkpoint), layers, extra, options)


def learning_residual_levels(layers, checkpoint, extra=None, **options):
    """Return a residual network of 50 layers with a pyramid, all of whose normalizations learn."""
    return _with_levels(resnet50(**checkpoint), layers, extra, options)


def _with_levels(network, layers, extra, options):
    # Further levels are made here, after the network: that is the order in which parameters are drawn.
    return _resnet_fpn_extractor(network, layers, extra_blocks=extra and LastLevelP6P7(*extra), **options)
