"""`torch.nn.attention`: which implementation of attention may run."""
import enum
import threading

from dragon.core.scopes import scope
from dragon.vm.torch.backends.cuda import cudnn_sdp_enabled, enable_cudnn_sdp

_local = threading.local()


class SDPBackend(enum.IntEnum):
    """An implementation of `scaled_dot_product_attention`.

    Dragon's operator chooses by itself, but leaves cuDNN alone where that is not allowed; all of them compute the same
    numbers, to what the dtype holds.
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self.value}>"

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"


def _cur_sdpa_kernel_backends(with_priority=False):
    """Return the implementations that may run."""
    return list(getattr(_local, "allowed", (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION,
                                            SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH,
                                            SDPBackend.OVERRIDEABLE)))


@scope
def sdpa_kernel(stack, backends, set_priority=False):
    """Name the implementations that may run within a `with` block; the numbers are the same with each.

    Parameters
    ----------
    backends : Union[SDPBackend, List[SDPBackend]]
        Those that may run.
    set_priority : bool, optional, default=False
        Whether their order says which to prefer.

    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(f"sdpa_kernel: got {type(backends).__name__}, expected an SDPBackend or a list of them")
    allowed = list(dict.fromkeys([backends] if isinstance(backends, SDPBackend) else backends))
    stack.set(_local, "allowed", allowed)
    stack.callback(enable_cudnn_sdp, cudnn_sdp_enabled())
    enable_cudnn_sdp(SDPBackend.CUDNN_ATTENTION in allowed)
    return {}
