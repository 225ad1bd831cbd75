"""Losses over classes with what their gradients need, and these gradients."""
from dragon.dialects.aten.table import REDUCTIONS
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.tensor import ops


def nll_loss_forward(self, target, weight, reduction, ignore_index):
    """Return the loss, and the sum of the weights of the targets."""
    torch = api()
    made = torch.nn.functional.nll_loss(self, target, weight, reduction=REDUCTIONS[reduction],
                                        ignore_index=ignore_index)
    counted = torch.where(target != ignore_index, 1.0 if weight is None else weight[target.clamp_min(0)], 0.0)
    return made, counted.sum().to(self.dtype)


def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    """Return the gradient of the scores."""
    if REDUCTIONS[reduction] == "mean":
        grad_output = grad_output / total_weight
    classes = 1 if self.ndim > 1 else 0
    wide = self.unsqueeze(0) if self.ndim == 1 else self
    target = target.unsqueeze(0) if self.ndim == 1 else target
    flat = target.reshape(target.shape[0], -1)
    terms = grad_output.expand(target.shape).reshape(flat.shape) if grad_output.ndim == 0 else grad_output.reshape(
        flat.shape)
    made = ops.nll_loss_terms_backward(terms, flat, weight, self.shape[classes], ignore_index)
    return made.reshape(wide.shape).reshape(self.shape)
