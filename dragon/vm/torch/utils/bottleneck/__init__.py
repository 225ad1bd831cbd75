"""`python -m torch.utils.bottleneck`, which Dragon does not have: `torch.profiler` says what takes the time."""
