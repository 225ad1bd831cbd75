"""The focal loss."""
from dragon.vm import torch
from dragon.vm.torchvision.ops._utils import reduced


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    """Return the cross entropy of logits, with well classified examples weighed down.

    Parameters
    ----------
    inputs : Tensor
        The logits.
    targets : Tensor
        0 or 1 for each.
    alpha : float, optional, default=0.25
        The weight of positive examples; -1 for none.
    gamma : float, optional, default=2
        How fast the weight falls with the probability of the right answer.
    reduction : str, optional, default="none"
        "none", "mean" or "sum".

    Returns
    -------
    Tensor
        The loss.

    """
    if not 0 <= alpha <= 1 and alpha != -1:
        raise ValueError(f"Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1 for ignore.")
    p = torch.sigmoid(inputs)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * (1 - (p * targets + (1 - p) * (1 - targets))) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return reduced(loss, reduction, empty_is_zero=False)
