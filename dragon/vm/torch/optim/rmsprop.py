"""RMSprop."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, rate
from dragon.vm.torch.optim.optimizer import _get_value


class RMSprop(RuleOptimizer):
    """Gradient descent scaled by the running root mean square of the gradient.

    Parameters
    ----------
    alpha : float, optional, default=0.99
        How much of the running means is kept at each step.
    centered : bool, optional, default=False
        Whether to scale by the deviation from the running mean.

    Examples
    --------
    >>> weight = nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.RMSprop([weight], lr=0.01)
    >>> (weight ** 2).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.9000])

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

    def options(self, group):
        return {"lr": rate(group), "alpha": group["alpha"], "eps": group["eps"],
                "weight_decay": float(group["weight_decay"]), "momentum": float(group["momentum"]),
                "centered": group["centered"], "maximize": group["maximize"]}
