"""Adam."""
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.optim._rules import RuleOptimizer, adam_options, check, check_betas
from dragon.vm.torch.optim.optimizer import _get_value


class Adam(RuleOptimizer):
    """Steps along the running mean of the gradient, scaled by its running root mean square. ...

    Examples
    --------
    >>> weight = nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.Adam([weight], lr=0.1)
    >>> (weight ** 2).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.9000])

    """

    rule = staticmethod(ops.adam_step)
    lists = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
            raise ValueError("betas must be either both floats or both Tensors")
        betas = tuple(_get_value(beta) for beta in betas)
        check("Adam", lr=(_get_value(lr) if not isinstance(lr, Tensor) or lr.numel() == 1 else 0, 0.0, None),
              eps=(eps, 0.0, None), weight_decay=(weight_decay, 0.0, None))
        check_betas("Adam", betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay})

    def has(self, name, group):
        return name != "max_exp_avg_sq" or group["amsgrad"]

    def options(self, group):
        return adam_options(group, "amsgrad") | {"decoupled": group["decoupled_weight_decay"]}
