"""Muon: momentum whose matrices are made orthogonal before the step."""
import math

from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, rate, zeros
from dragon.vm.torch.optim.optimizer import _get_value

ADJUSTMENTS = (None, "original", "match_rms_adamw")


class Muon(RuleOptimizer):
    """Steps along the orthogonal matrix nearest to the momentum; for matrices only.

    Parameters
    ----------
    params : Iterable[Union[Tensor, Tuple[str, Tensor], dict]]
        Matrices, or groups of them.
    lr : float, optional, default=1e-3
        The learning rate.
    weight_decay : float, optional, default=0.1
        How much parameters shrink at each step, times the rate.
    momentum : float, optional, default=0.95
        How much of the running mean of the gradient is kept.
    ns_coefficients : Tuple[float, float, float], optional, default=(3.4445, -4.775, 2.0315)
        Of the polynomial that is iterated.
    eps : float, optional, default=1e-7
        The least norm to divide by.
    ns_steps : int, optional, default=5
        Iterations of the polynomial.
    adjust_lr_fn : str, optional
        How the rate follows the shape: "original" (the default) or "match_rms_adamw".

    """

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.7750, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn=None):
        check("Muon", lr=(_get_value(lr), 0.0, None), momentum=(momentum, 0.0, None),
              weight_decay=(weight_decay, 0.0, None))
        if adjust_lr_fn not in ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported: "
                             f"expected one of {ADJUSTMENTS}")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError("Muon only supports 2D parameters whereas we found a parameter with size: "
                                     f"{param.shape}")

    def update(self, group):
        lr = rate(group)
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if param.dtype.is_complex:
                raise RuntimeError("Muon does not support complex parameters")
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros(param)
            buffer = state["momentum_buffer"]
            ops.lerp_(buffer, grad, 1 - group["momentum"])
            ahead = ops.lerp(grad, buffer, group["momentum"]) if group["nesterov"] else buffer
            update = orthogonalize(ahead, group["ns_coefficients"], group["ns_steps"], group["eps"])
            ops.mul_(param, 1 - lr * group["weight_decay"])
            ops.sub_(param, ops.cast(update, param.dtype), alpha=adjust(lr, group["adjust_lr_fn"], param.shape))


def orthogonalize(matrix, coefficients, steps, eps):
    """Return about the nearest orthogonal matrix, by Newton-Schulz iterations in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = ops.cast(matrix, OBJECTS["bfloat16"])
    x = ops.t(x) if tall else x
    x = x / ops.clamp(ops.linalg_vector_norm(x), min=eps)
    for _ in range(steps):
        gram = ops.mm(x, ops.t(x))
        x = ops.addmm(x, ops.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return ops.t(x) if tall else x


def adjust(lr, how, shape):
    """Return the learning rate for a matrix of a shape."""
    rows, columns = shape[:2]
    if how == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, columns))
    return lr * math.sqrt(max(1, rows / columns))
