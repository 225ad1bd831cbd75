"""`associative_scan` under the path that packages import it from."""
from dragon.vm.torch.core.functions.control import associative_scan  # noqa: F401
