"""NVIDIA's devices as `torch.cuda` speaks of them: presence, what the driver tells, sensors."""
