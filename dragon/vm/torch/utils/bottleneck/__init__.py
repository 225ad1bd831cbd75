"""`python -m torch.utils.bottleneck`, which Dragon does not have: `torch.profiler` says what takes the time."""
from dragon.vm.torch.core.missing import module_getattr


__getattr__ = module_getattr("torch.utils.bottleneck", globals())
