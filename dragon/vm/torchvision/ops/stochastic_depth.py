"""Dropping of whole branches."""
from dragon.vm import torch
from dragon.vm.torch.fx import wrap
from dragon.vm.torch.nn.modules._applied import Applied


def stochastic_depth(input: torch.Tensor, p: float, mode: str, training: bool = True) -> torch.Tensor:
    """Return the input with rows, or the whole batch, zeroed at random and the rest scaled up."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    size = [input.shape[0] if mode == "row" else 1] + [1] * (input.ndim - 1)
    noise = torch.empty(size, dtype=input.dtype, device=input.device).bernoulli_(1.0 - p)
    return input * (noise.div_(1.0 - p) if p < 1.0 else noise)


wrap("stochastic_depth")


class StochasticDepth(Applied, call="stochastic_depth(input; p, mode, training=self.training)"):
    """Drop rows or batches while training.

    Parameters
    ----------
    p : float
        The probability of dropping.
    mode : str
        "row" or "batch".

    """
