"""Adam with the largest gradient in place of the mean square."""
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, adam_options, check, check_betas
from dragon.vm.torch.optim.optimizer import _get_value


class Adamax(RuleOptimizer):
    """Adam scaled by the largest magnitude of the gradient, which fades. ..."""

    rule = staticmethod(ops.adamax_step)
    lists = ("exp_avg", "exp_inf", "step")

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        check("Adamax", lr=(_get_value(lr), 0.0, None), eps=(eps, 0.0, None), weight_decay=(weight_decay, 0.0, None))
        check_betas("Adamax", betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})

    def options(self, group):
        return adam_options(group)
