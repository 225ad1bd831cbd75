"""`while_loop` under the path that packages import it from."""
from dragon.vm.torch.core.functions.control import while_loop  # noqa: F401
