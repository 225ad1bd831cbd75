"""What models that name every pixel share."""
from collections import OrderedDict

from dragon.vm import torch
from dragon.vm.torchvision.models._api import Choice, overwrite, publish, weights_enum
from dragon.vm.torchvision.models._utils import IntermediateLayerGetter

nn = torch.nn


def as_large(x, like):
    """Return a tensor as high and as wide as another."""
    return nn.functional.interpolate(x, size=like.shape[-2:], mode="bilinear", align_corners=False)


class _SimpleSegmentationModel(nn.Module):
    """A backbone, and what names pixels from its last features, and perhaps from some before.

    Parameters
    ----------
    backbone : Module
        Makes features by the names "out" and "aux".
    classifier : Module
        Names the pixels.
    aux_classifier : Module, optional
        Names them from the features before.

    """

    def __init__(self, backbone, classifier, aux_classifier=None):
        super().__init__()
        self.backbone, self.classifier, self.aux_classifier = backbone, classifier, aux_classifier

    def forward(self, x):
        features = self.backbone(x)
        result = OrderedDict(out=as_large(self.classifier(features["out"]), x))
        if self.aux_classifier is not None:
            result["aux"] = as_large(self.aux_classifier(features["aux"]), x)
        return result


def stages(features):
    """Return where the stages of a MobileNet start, the last block among them."""
    return [0] + [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)] + [len(features) - 1]


def levels(network, out, aux=None, names=("out", "aux")):
    """Return a network that makes the features of some of its children by name."""
    wanted = {out: names[0]}
    if aux is not None:
        wanted[aux] = names[1]
    return IntermediateLayerGetter(network, return_layers=wanted)


def define_segmentation(namespace, name, enum_name, make, network, has_aux=True):
    """Define a model's function, and the class of its checkpoints, in a module.

    Parameters
    ----------
    namespace : dict
        The module's globals.
    name : str
        The function's name.
    enum_name : str
        The name of the class, without "_Weights".
    make : Callable
        Makes the model from the backbone's checkpoint, the classes, and whether pixels are named from features before.
    network : type
        The class of the backbone's checkpoints.
    has_aux : bool, optional, default=True
        Whether pixels can be named from features before.

    """
    enum = namespace.setdefault(f"{enum_name}_Weights", weights_enum(f"{enum_name}_Weights"))

    def call(weights, progress, num_classes, weights_backbone, aux_loss=None, **kwargs):
        if not has_aux and aux_loss:
            raise NotImplementedError("This model does not use auxiliary loss")
        settled = {key: value for key, value in (("num_classes", num_classes), ("aux_loss", aux_loss))
                   if value is not None}
        if weights is not None:
            weights_backbone = None
            overwrite(settled, "num_classes", len(weights.meta["categories"]))
            if has_aux:
                overwrite(settled, "aux_loss", True)
        # Whatever else came is accepted and has no meaning, as in torchvision.
        model = make(weights_backbone, settled.get("num_classes", 21), settled.get("aux_loss", False))
        if weights is not None:
            model.load_state_dict(weights.get_state_dict(progress=progress, check_hash=True))
        return model
    parameters = {"weights": Choice(enum), "progress": True, "num_classes": None}
    if has_aux:
        parameters["aux_loss"] = None
    parameters["weights_backbone"] = Choice(network, network.IMAGENET1K_V1, "pretrained_backbone", "IMAGENET1K_V1")
    publish(namespace, name, call, parameters)
