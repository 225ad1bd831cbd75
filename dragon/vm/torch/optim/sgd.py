"""Gradient descent."""
from dragon.vm.torch.core.sparse.parts import is_sparse
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, number_of, rate, zeros
from dragon.vm.torch.optim.optimizer import _get_value


class SGD(RuleOptimizer):
    """Gradient descent, with momentum (Nesterov's or plain) and weight decay.

    Parameters
    ----------
    dampening : float, optional, default=0
        How much of the gradient does not enter the momentum.

    Examples
    --------
    >>> weight = nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.SGD([weight], lr=0.1)
    >>> (weight ** 2).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.8000])

    """

    rule = staticmethod(ops.sgd_step)

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False,
                 foreach=None, differentiable=False, fused=None):
        if not isinstance(lr, Tensor):
            check("SGD", lr=(lr, 0.0, None))
        check("SGD", momentum=(momentum, 0.0, None), weight_decay=(_get_value(weight_decay), 0.0, None))
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})

    def update(self, group):
        params = [param for param in group["params"] if param.grad is not None]
        sparse = [param for param in params if is_sparse(param.grad)]
        if sparse:
            self.step_sparse(sparse, [param.grad for param in sparse], group)
            params = [param for param in params if not is_sparse(param.grad)]
        if not params:
            return
        momentum = float(group["momentum"])
        options = {"lr": rate(group), "momentum": number_of(group, "momentum"), "dampening": float(group["dampening"]),
                   "weight_decay": number_of(group, "weight_decay"), "nesterov": group["nesterov"],
                   "maximize": group["maximize"]}
        if momentum == 0:
            return self.run(params, [param.grad for param in params], [[]], options)
        # Those seen for the first time start their momentum with the undampened gradient.
        fresh = [param for param in params if self.state[param].get("momentum_buffer") is None]
        for param in fresh:
            self.state[param]["momentum_buffer"] = zeros(param)
        known = params if not fresh else [] if len(fresh) == len(params) else [
            param for param in params if not any(param is other for other in fresh)]
        for some, first in ((fresh, True), (known, False)):
            if some:
                self.run(some, [param.grad for param in some],
                         [[self.state[param]["momentum_buffer"] for param in some]], options | {"first": first})

    def step_sparse(self, params, grads, group):
        """Add sparse gradients to the rows that they name; their momentum is sparse too."""
        momentum, lr = float(group["momentum"]), float(_get_value(group["lr"]))
        if float(_get_value(group["weight_decay"])):
            raise RuntimeError("SGD: got weight_decay with a sparse gradient, expected 0: it would touch every row")
        for param, grad in zip(params, grads):
            grad = -grad if group["maximize"] else grad
            if momentum:
                state = self.state[param]
                kept = state.get("momentum_buffer")
                if kept is None:
                    kept = state["momentum_buffer"] = grad.detach().clone()
                else:
                    kept.mul_(momentum).add_(grad, alpha=1 - float(group["dampening"]))
                grad = grad.add(kept, alpha=momentum) if group["nesterov"] else kept
            param.add_(grad, alpha=-lr)
        return [], []
