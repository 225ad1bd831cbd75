"""Adagrad."""
from dragon.vm.torch.core.sparse.parts import is_sparse, with_values
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, number, rate, zeros
from dragon.vm.torch.optim.optimizer import _get_value


class Adagrad(RuleOptimizer):
    """Gradient descent scaled by the root of all squared gradients so far.

    Parameters
    ----------
    lr_decay : float, optional, default=0
        How fast the rate falls with the number of steps.
    initial_accumulator_value : float, optional, default=0
        What the sums of squares start with.

    """

    rule = staticmethod(ops.adagrad_step)
    lists = ("sum", "step")

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10,
                 foreach=None, *, maximize=False, differentiable=False, fused=None):
        check("Adagrad", lr=(_get_value(lr), 0.0, None), lr_decay=(lr_decay, 0.0, None),
              weight_decay=(weight_decay, 0.0, None),
              initial_accumulator_value=(initial_accumulator_value, 0.0, None), eps=(eps, 0.0, None))
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        for group in self.param_groups:
            for param in group["params"]:
                self.start(self.state[param], param, group)

    def share_memory(self):
        """Let other processes see the sums."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def start(self, state, param, group):
        state["step"] = number(0.0)
        state["sum"] = zeros(param, group["initial_accumulator_value"])

    def options(self, group):
        return {"lr": rate(group), "lr_decay": float(group["lr_decay"]), "weight_decay": float(group["weight_decay"]),
                "eps": group["eps"], "maximize": group["maximize"]}

    def step_sparse(self, params, grads, group):
        """Scale the rows that sparse gradients name by the roots of their sums; returns what is not sparse."""
        if group["weight_decay"]:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        for param, grad in zip(params, grads):
            if not is_sparse(grad):
                continue
            state = self.state[param]
            state["step"] += 1
            rate_now = float(_get_value(group["lr"])) / (1 + (float(state["step"]) - 1) * group["lr_decay"])
            grad = (-grad if group["maximize"] else grad).coalesce()
            values = grad.values()
            state["sum"].add_(with_values(grad, ops.mul(values, values)))
            spread = ops.add(ops.sqrt(state["sum"].sparse_mask(grad).values()), group["eps"])
            param.add_(with_values(grad, ops.div(values, spread)), alpha=-rate_now)
        rest = [(param, grad) for param, grad in zip(params, grads) if not is_sparse(grad)]
        return [param for param, _ in rest], [grad for _, grad in rest]
