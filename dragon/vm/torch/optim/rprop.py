"""Resilient propagation."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, number, rate, zeros
from dragon.vm.torch.optim.optimizer import _get_value


class Rprop(RuleOptimizer):
    """Step sizes of their own for all numbers, by the signs of successive gradients; for full batches.

    Parameters
    ----------
    lr : Union[float, Tensor], optional, default=1e-2
        What the step sizes start with.
    etas : Tuple[float, float], optional, default=(0.5, 1.2)
        What a step size is multiplied by when the sign turns, and when it stays.
    step_sizes : Tuple[float, float], optional, default=(1e-6, 50)
        The smallest and the largest.

    """

    rule = staticmethod(ops.rprop_step)
    lists = ("prev", "step_size")
    counts = True

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None,
                 maximize=False, differentiable=False):
        check("Rprop", lr=(_get_value(lr), 0.0, None))
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]} (Rprop expects one below and one above 1)")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})

    def start(self, state, param, group):
        state["step"] = number(0.0)
        state["prev"] = zeros(param)
        state["step_size"] = zeros(param, float(rate(group)))

    def options(self, group):
        return {"etaminus": group["etas"][0], "etaplus": group["etas"][1], "smallest": float(group["step_sizes"][0]),
                "largest": float(group["step_sizes"][1]), "maximize": group["maximize"]}
