"""`map` under the path that packages import it from."""
from dragon.vm.torch.core.functions.control import map  # noqa: F401
