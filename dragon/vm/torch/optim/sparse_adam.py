"""Adam for sparse gradients, which Dragon does not have."""
from dragon.vm.torch.optim._rules import check, check_betas
from dragon.vm.torch.optim.optimizer import Optimizer, _get_value


class SparseAdam(Optimizer):
    """Adam that touches only the rows a sparse gradient names; without sparse gradients its step is an error."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if not 0.0 < _get_value(lr):
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check("SparseAdam", lr=(_get_value(lr), 0.0, None))
        check_betas("SparseAdam", betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def step(self, closure=None):
        """Raise for gradients: they are all dense."""
        from dragon.vm.torch.autograd.grad_mode import enable_grad
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if any(param.grad is not None for group in self.param_groups for param in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead; "
                               "Dragon has no sparse tensors")
        return loss
