"""What is done to modules in place."""
from dragon.vm.torch.core import absent
from dragon.vm.torch.distributed._composable.fsdp import fully_shard  # noqa: F401

absent.fill(globals(), "distributed._composable")
