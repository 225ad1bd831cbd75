"""Ranges for NVIDIA's profilers, which are not there without CUDA."""
from dragon.vm.torch.core.accelerators import fill


def _refuse(name):
    return RuntimeError(f"NVTX functions not installed: torch.cuda.nvtx.{name} needs a build with CUDA")


fill(globals(), "torch.cuda.nvtx", _refuse, "range_push range_pop range_start range_end mark range")
