"""Timing statements: `torch.utils.benchmark`."""
from dragon.vm.torch.core.missing import module_getattr
from dragon.vm.torch.utils.benchmark.timer import Measurement, TaskSpec, Timer


__getattr__ = module_getattr("torch.utils.benchmark", globals())
