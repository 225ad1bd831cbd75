"""Averaged gradient descent."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, number, rate, zeros
from dragon.vm.torch.optim.optimizer import _get_value


class ASGD(RuleOptimizer):
    """Gradient descent whose iterates are also averaged (state "ax").

    Parameters
    ----------
    lambd : float, optional, default=1e-4
        The decay term.
    alpha : float, optional, default=0.75
        The power with which the rate falls.
    t0 : float, optional, default=1e6
        The step at which averaging starts.

    """

    rule = staticmethod(ops.asgd_step)
    lists = ("ax", "eta", "mu", "step")

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check("ASGD", lr=(_get_value(lr), 0.0, None), weight_decay=(weight_decay, 0.0, None))
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def start(self, state, param, group):
        state["step"] = number(0.0)
        state["eta"] = number(float(rate(group)))
        state["mu"] = number(1.0)
        state["ax"] = zeros(param)

    def options(self, group):
        return {"lr": rate(group), "lambd": group["lambd"], "alpha": group["alpha"], "t0": float(group["t0"]),
                "weight_decay": float(group["weight_decay"]), "maximize": group["maximize"]}
