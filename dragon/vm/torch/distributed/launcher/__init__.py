"""Programs and functions in several processes."""
from dragon.vm.torch.distributed.launcher.api import LaunchConfig, elastic_launch, launch_agent  # noqa: F401
