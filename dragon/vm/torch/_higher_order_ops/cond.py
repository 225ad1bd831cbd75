"""`cond` under the path that packages import it from."""
from dragon.vm.torch.core.functions.control import cond  # noqa: F401
