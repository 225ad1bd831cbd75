"""Modules over several devices and processes."""
from dragon.vm.torch.nn.parallel.data_parallel import DataParallel, data_parallel
from dragon.vm.torch.nn.parallel.distributed import DistributedDataParallel
from dragon.vm.torch.nn.parallel.parallel_apply import parallel_apply
from dragon.vm.torch.nn.parallel.replicate import replicate
from dragon.vm.torch.nn.parallel.scatter_gather import gather, scatter
