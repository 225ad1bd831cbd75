"""Optimizers of several processes."""
from dragon.vm.torch.core import absent
from dragon.vm.torch.distributed.optim.apply_optimizer_in_backward import (  # noqa: F401
    _apply_optimizer_in_backward, _get_in_backward_optimizers)
from dragon.vm.torch.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer  # noqa: F401
from dragon.vm.torch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer  # noqa: F401

absent.fill(globals(), "distributed.optim")
