"""Adafactor: second moments kept as rows and columns only."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, number, rate
from dragon.vm.torch.optim.optimizer import _get_value


class Adafactor(RuleOptimizer):
    """Scaled gradient descent whose memory grows with the sides of matrices, not with their areas.

    Parameters
    ----------
    lr : Union[float, Tensor], optional, default=1e-2
        The largest relative step.
    beta2_decay : float, optional, default=-0.8
        The power with which the means become longer.
    eps : Tuple[Optional[float], float], optional, default=(None, 1e-3)
        The least second moment (by default the dtype's epsilon), and the least scale of parameters.
    d : float, optional, default=1.0
        The clipping threshold of updates.
    weight_decay : float, optional, default=0.0
        How much parameters shrink at each step, times the rate.

    """

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        if beta2_decay > 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        check("Adafactor", lr=(_get_value(lr), 0.0, None), eps1=(eps[0] or 0.0, 0.0, None), eps2=(eps[1], 0.0, None),
              weight_decay=(weight_decay, 0.0, None), d=(d, 1.0, None))
        super().__init__(params, {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
                                  "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize})

    def start(self, state, param, group):
        state["step"] = number(0.0)
        shape = tuple(param.shape)
        if len(shape) > 1:
            state["row_var"] = ops.zeros((*shape[:-1], 1), dtype=param.dtype)
            state["col_var"] = ops.zeros((*shape[:-2], 1, shape[-1]), dtype=param.dtype)
        else:
            state["variance"] = ops.zeros(shape, dtype=param.dtype)

    def update(self, group):
        for param in group["params"]:
            if param.grad is None:
                continue
            if param.dtype.is_complex:
                raise RuntimeError("Adafactor does not support complex parameters")
            state = self.state[param]
            if not state:
                self.start(state, param, group)
            self._update_one(param, -param.grad if group["maximize"] else param.grad, state, group)

    def _update_one(self, param, grad, state, group):
        state["step"] += 1
        step, lr = state["step"].item(), rate(group)
        least = _epsilon(param.dtype.name) if group["eps"][0] is None else group["eps"][0]
        fresh = step ** group["beta2_decay"]
        scale = max(group["eps"][1], _norm(param) / param.numel() ** 0.5) * min(lr, 1 / step ** 0.5)
        if group["weight_decay"] != 0:
            ops.mul_(param, 1 - lr * group["weight_decay"])
        square = grad * grad
        if grad.ndim > 1:
            rows, columns = state["row_var"], state["col_var"]
            _blend(rows, ops.mean(square, -1, True), fresh)
            _blend(columns, ops.mean(square, -2, True), fresh)
            estimate = ops.matmul(rows, columns) / ops.clamp(ops.mean(rows, -2, True), min=least)
        else:
            _blend(state["variance"], square, fresh)
            estimate = state["variance"]
        change = ops.rsqrt(ops.clamp(estimate, min=least * least)) * grad
        ops.sub_(param, change, alpha=scale / max(1.0, _norm(change) / (change.numel() ** 0.5 * group["d"])))


def _norm(x):
    return ops.linalg_vector_norm(x).item()


def _blend(kept, fresh, share):
    """Move a running mean towards a new value, in place."""
    ops.add_(kept, fresh - kept, alpha=share)


def _epsilon(name):
    """Return the step from 1 to the next number of a dtype."""
    return {"float64": 2.0 ** -52, "float32": 2.0 ** -23, "float16": 2.0 ** -10, "bfloat16": 2.0 ** -7}[name]
