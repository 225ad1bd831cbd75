"""Adadelta."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, rate
from dragon.vm.torch.optim.optimizer import _get_value


class Adadelta(RuleOptimizer):
    """Gradient descent in units of earlier updates.

    Parameters
    ----------
    lr : Union[float, Tensor], optional, default=1.0
        What updates are multiplied by.
    rho : float, optional, default=0.9
        How much of the running means is kept at each step.
    eps : float, optional, default=1e-6
        Added under the roots.

    """

    rule = staticmethod(ops.adadelta_step)
    lists = ("square_avg", "acc_delta")
    counts = True

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False,
                 maximize=False, differentiable=False):
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho} (Adadelta expects 0 to 1)")
        check("Adadelta", lr=(_get_value(lr), 0.0, None), eps=(eps, 0.0, None), weight_decay=(weight_decay, 0.0, None))
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable})

    def options(self, group):
        return {"lr": rate(group), "rho": group["rho"], "eps": group["eps"],
                "weight_decay": float(group["weight_decay"]), "maximize": group["maximize"]}
