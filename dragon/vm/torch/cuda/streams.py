"""Streams of CUDA devices."""
from dragon.vm.torch.cuda import (Event, ExternalStream, Stream)
