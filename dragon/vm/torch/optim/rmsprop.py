"""RMSprop."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, number, rate, zeros
from dragon.vm.torch.optim.optimizer import _get_value


class RMSprop(RuleOptimizer):
    """Gradient descent scaled by the running root mean square of the gradient.

    Parameters
    ----------
    params : Iterable[Union[Tensor, Tuple[str, Tensor], dict]]
        Parameters, or groups of them.
    lr : Union[float, Tensor], optional, default=1e-2
        The learning rate.
    alpha : float, optional, default=0.99
        How much of the running means is kept at each step.
    eps : float, optional, default=1e-8
        Added to the denominator.
    weight_decay : float, optional, default=0
        How much of the parameter is added to its gradient.
    momentum : float, optional, default=0
        How much of the last step is kept.
    centered : bool, optional, default=False
        Whether to scale by the deviation from the running mean.
    capturable, foreach : optional
        Accepted: the engine updates all parameters in one call.
    maximize : bool, optional, default=False
        Whether to step upwards.
    differentiable : bool, optional, default=False
        Not supported.

    """

    rule = staticmethod(ops.rmsprop_step)
    lists = ("square_avg", "momentum_buffer", "grad_avg")
    counts = True

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False,
                 capturable=False, foreach=None, maximize=False, differentiable=False):
        check("RMSprop", lr=(_get_value(lr), 0.0, None), eps=(eps, 0.0, None), momentum=(momentum, 0.0, None),
              weight_decay=(weight_decay, 0.0, None), alpha=(alpha, 0.0, None))
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable})

    def has(self, name, group):
        return {"momentum_buffer": group["momentum"] > 0, "grad_avg": group["centered"]}.get(name, True)

    def start(self, state, param, group):
        state["step"] = number(0.0)
        for name in self.lists:
            if self.has(name, group):
                state[name] = zeros(param)

    def options(self, group):
        return {"lr": rate(group), "alpha": group["alpha"], "eps": group["eps"],
                "weight_decay": float(group["weight_decay"]), "momentum": float(group["momentum"]),
                "centered": group["centered"], "maximize": group["maximize"]}
