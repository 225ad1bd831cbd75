"""`torch._dynamo.eval_frame`, for those who import from there."""
from dragon.vm.torch.core.compiled import OptimizedModule, is_dynamo_supported, is_inductor_supported  # noqa: F401
