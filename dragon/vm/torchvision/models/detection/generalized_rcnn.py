"""What all detectors do: look at what came, make the batch, and answer with losses or with what is found."""
from dragon.vm import torch
from dragon.vm.torchvision.models.detection._utils import as_levels


def _check_targets(targets):
    """Raise AssertionError unless there are boxes (N, 4) for training."""
    if targets is None:
        raise AssertionError("targets should not be none when in training mode")
    for target in targets:
        boxes = target["boxes"]
        if not isinstance(boxes, torch.Tensor):
            raise AssertionError(f"Expected target boxes to be of type Tensor, got {type(boxes)}.")
        if len(boxes.shape) != 2 or boxes.shape[-1] != 4:
            raise AssertionError(f"Expected target boxes to be a tensor of shape [N, 4], got {boxes.shape}.")


def _check_extents(targets):
    """Raise AssertionError for a box without width or height."""
    for index, target in enumerate(targets or ()):
        boxes = target["boxes"]
        flat = (boxes[:, 2:] <= boxes[:, :2]).any(dim=1)
        if flat.any():
            raise AssertionError("All bounding boxes should have positive height and width. Found invalid box "
                                 f"{boxes[torch.where(flat)[0][0]].tolist()} for target at index {index}.")


class Detector(torch.nn.Module):
    """The base of detectors: a transform before a backbone, and a last step of their own.

    Parameters
    ----------
    backbone : Module
        Makes levels of features.
    transform : Module
        Makes a batch of images, and brings answers back.

    """

    def forward(self, images, targets=None):
        if self.training:
            _check_targets(targets)
        sizes = []
        for image in images:
            if len(image.shape[-2:]) != 2:
                raise AssertionError("expecting the last two dimensions of the Tensor to be H and W instead got "
                                     f"{image.shape[-2:]}")
            sizes.append(tuple(image.shape[-2:]))
        images, targets = self.transform(images, targets)
        _check_extents(targets)
        losses, detections = self._answer(images, as_levels(self.backbone(images.tensors)), targets)
        detections = self.transform.postprocess(detections, images.image_sizes, sizes)
        return self.eager_outputs(losses, detections)

    def eager_outputs(self, losses, detections):
        """Return the losses in training, what is found otherwise."""
        return losses if self.training else detections

    def _answer(self, images, features, targets):
        """Return (losses, detections) of a batch."""
        raise NotImplementedError(f"{type(self).__name__}: has no _answer")


class GeneralizedRCNN(Detector):
    """A detector in two steps: it proposes regions, and then looks at each.

    Parameters
    ----------
    backbone : Module
        Makes levels of features.
    rpn : Module
        Proposes regions.
    roi_heads : Module
        Tells what is in them.
    transform : Module
        Makes a batch of images, and brings answers back.

    """

    def __init__(self, backbone, rpn, roi_heads, transform):
        super().__init__()
        self.transform, self.backbone, self.rpn, self.roi_heads = transform, backbone, rpn, roi_heads

    def _answer(self, images, features, targets):
        proposals, proposal_losses = self.rpn(images, features, targets)
        detections, losses = self.roi_heads(features, proposals, images.image_sizes, targets)
        return {**losses, **proposal_losses}, detections
