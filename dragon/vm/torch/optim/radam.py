"""Adam whose adaptive rate waits until its variance is known."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, adam_options, check, check_betas
from dragon.vm.torch.optim.optimizer import _get_value


class RAdam(RuleOptimizer):
    """Adam whose first steps are plain momentum, until the mean square has seen enough gradients. ..."""

    rule = staticmethod(ops.radam_step)
    lists = ("exp_avg", "exp_avg_sq", "step")

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        check("RAdam", lr=(_get_value(lr), 0.0, None), eps=(eps, 0.0, None), weight_decay=(weight_decay, 0.0, None))
        check_betas("RAdam", betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable})

    def options(self, group):
        return adam_options(group) | {"decoupled": group["decoupled_weight_decay"]}
