"""Small things of programs that are started anew."""
import os

from dragon.vm.guest import lookup
from dragon.vm.torch.distributed.elastic.utils.distributed import get_socket_with_port  # noqa: F401


def get_env_variable_or_raise(env_name):
    """Return what the environment says, or raise."""
    value = os.environ.get(env_name)
    if value is None:
        raise ValueError(f"Environment variable {env_name} expected, but not set")
    return value


__getattr__, __dir__ = lookup(globals())
