"""Timing statements: `torch.utils.benchmark`."""
from dragon.vm.torch.utils.benchmark.timer import Measurement, TaskSpec, Timer
