"""Adam for sparse gradients."""
from dragon.vm.torch.core.sparse.parts import is_sparse, with_values
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._rules import RuleOptimizer, check, check_betas, zeros
from dragon.vm.torch.optim.optimizer import _get_value


class SparseAdam(RuleOptimizer):
    """Adam that touches only the rows a sparse gradient names, averages included.

    Parameters
    ----------
    lr : Union[float, Tensor], optional, default=0.001
        The learning rate.
    betas : Tuple[float, float], optional, default=(0.9, 0.999)
        How much of the averages of gradients and of their squares is kept at each step.
    eps : float, optional, default=1e-8
        Added to the root of the squares.
    maximize : bool, optional, default=False
        Whether to climb.

    Examples
    --------
    >>> table = nn.Embedding(4, 1, sparse=True)
    >>> optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1)
    >>> table(torch.tensor([1])).sum().backward()
    >>> before = table.weight.detach().clone()
    >>> optimizer.step()
    >>> (table.weight.detach() != before).flatten()
    tensor([False,  True, False, False])

    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if not 0.0 < _get_value(lr):
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check("SparseAdam", lr=(_get_value(lr), 0.0, None))
        check_betas("SparseAdam", betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [place for place, param in enumerate(param for group in self.param_groups for param in group["params"])
                  if is_sparse(param)]
        if places:
            raise ValueError(f"SparseAdam: got sparse params at indices {places}, expected strided ones: SparseAdam "
                             "requires dense parameter tensors")

    def update(self, group):
        """Make one step with the parameters of a group."""
        for param in group["params"]:
            if param.grad is not None:
                if not is_sparse(param.grad):
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                self.step_rows(param, group)

    def step_rows(self, param, group):
        """Make one step with the rows of a parameter that its gradient names."""
        state, (beta1, beta2) = self.state[param], (float(beta) for beta in group["betas"])
        if not state:
            state.update(step=0, exp_avg=zeros(param), exp_avg_sq=zeros(param))
        state["step"] += 1
        grad = (-param.grad if group["maximize"] else param.grad).coalesce()
        values = grad.values()
        if values.numel() == 0:
            return
        averages = []
        for name, beta, found in (("exp_avg", beta1, values), ("exp_avg_sq", beta2, ops.mul(values, values))):
            old = state[name].sparse_mask(grad).values()
            change = ops.mul(ops.sub(found, old), 1 - beta)
            state[name].add_(with_values(grad, change))
            averages.append(ops.add(old, change))
        scale = float(_get_value(group["lr"])) * (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
        step = ops.div(averages[0], ops.add(ops.sqrt(averages[1]), group["eps"]))
        param.add_(with_values(grad, ops.mul(step, -scale)))
