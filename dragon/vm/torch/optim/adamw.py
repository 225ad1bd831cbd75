"""AdamW."""
from dragon.vm.torch.optim.adam import Adam


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves. ...

    Examples
    --------
    >>> weight = nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.AdamW([weight], lr=0.1, weight_decay=0.5)
    >>> (weight ** 2).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.8500])

    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *,
                 maximize=False, foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
