"""Collectives that gradients flow through: `torch.distributed.nn`."""
from dragon.vm.torch.core.absent import fill
from dragon.vm.torch.distributed.nn.functional import (all_gather, all_reduce, all_to_all, all_to_all_single, broadcast,
                                                       gather, reduce, reduce_scatter, scatter)

fill(globals(), "distributed.nn", ["RemoteModule*"])
