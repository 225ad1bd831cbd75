"""Modules whose weights are cut among processes: by columns, by rows, along the sequence."""
from dragon.vm.torch.distributed.tensor.parallel.api import parallelize_module
from dragon.vm.torch.distributed.tensor.parallel.loss import loss_parallel
from dragon.vm.torch.distributed.tensor.parallel.preparing import (PrepareModuleInput, PrepareModuleInputOutput,
                                                                   PrepareModuleOutput)
from dragon.vm.torch.distributed.tensor.parallel.style import (ColwiseParallel, ParallelStyle, RowwiseParallel,
                                                               SequenceParallel)
