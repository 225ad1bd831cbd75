"""Adam with Nesterov's momentum."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, adam_options, check, check_betas, number, zeros
from dragon.vm.torch.optim.optimizer import _get_value


class NAdam(RuleOptimizer):
    """Adam that looks ahead along the momentum, which `momentum_decay` lets rise with time.

    Parameters
    ----------
    momentum_decay : float, optional, default=4e-3
        How fast it does.

    """

    rule = staticmethod(ops.nadam_step)
    lists = ("exp_avg", "exp_avg_sq", "mu_product", "step")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):
        check("NAdam", lr=(_get_value(lr), 0.0, None), eps=(eps, 0.0, None), weight_decay=(weight_decay, 0.0, None),
              momentum_decay=(momentum_decay, 0.0, None))
        check_betas("NAdam", betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})

    def start(self, state, param, group):
        state["step"] = number(0.0)
        state["mu_product"] = number(1.0)
        state["exp_avg"] = zeros(param)
        state["exp_avg_sq"] = zeros(param)

    def options(self, group):
        return adam_options(group, "momentum_decay") | {"decoupled": group["decoupled_weight_decay"]}
