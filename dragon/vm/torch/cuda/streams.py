"""Streams of CUDA devices."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.cuda import (Event, ExternalStream, Stream)

__getattr__ = module_getattr("torch.cuda.streams", globals())
