"""Memory apart from everybody's, for what allocates within a block."""

from dragon.core import accelerator
from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.nvidia.presence import device_count, number, require, require_for_class
from dragon.vm.torch.cuda.segments import memory_snapshot


class MemPool:
    """A pool of device memory: what is freed goes to others of the pool alone, until the pool is gone.

    Parameters
    ----------
    allocator : Any, optional
        None: there is no allocator but the engine's.
    use_on_oom : bool, optional, default=False
        False: nobody else is given the pool's memory.
    no_split : bool, optional, default=False
        False: segments are cut into blocks.

    """

    def __init__(self, allocator=None, use_on_oom=False, no_split=False):
        require_for_class("MemPool")
        for name, value, usual in (("allocator", allocator, None), ("use_on_oom", use_on_oom, False),
                                   ("no_split", no_split, False)):
            if value:
                raise NotImplementedError(f"MemPool: got {name}={value!r}, expected {name}={usual}: pools have the "
                                          "engine's own allocator and its rules")
        self._pool, self._uses = accelerator.new_pool(), 0
        for index in range(device_count()):
            accelerator.hold_pool(index, self._pool)

    @property
    def id(self):
        """The pool's token, two ints."""
        return (0, self._pool)

    @property
    def allocator(self):
        """None: the engine's."""
        return None

    def use_count(self):
        """Return how many hold the pool: itself, and each block that allocates from it now."""
        return 1 + self._uses

    def snapshot(self, include_traces=True):
        """Return the pool's segments on all devices, as `torch.cuda.memory_snapshot` does."""
        return memory_snapshot(self.id, include_traces)

    def __del__(self):
        if hasattr(self, "_pool"):
            for index in range(device_count()):
                accelerator.release_pool(index, self._pool)


MemPool.__module__ = "torch.cuda.memory"


@contextmanager
def use_mem_pool(pool, device=None):
    """Have what this thread allocates on a device within a `with` block come from a pool.

    Parameters
    ----------
    pool : MemPool
        The pool.
    device : Union[device, int, str], optional
        The device, the current one by default.

    """
    require("use_mem_pool")
    before = accelerator.use_pool(pool.id[1], number(device))
    pool._uses += 1
    try:
        yield
    finally:
        pool._uses -= 1
        accelerator.use_pool(*before)
