"""Calls of a group that are begun together, and waited for together."""

from dragon.core.scopes import contextmanager
from dragon.vm.torch.distributed.collectives import _member


class _CoalescingManager:
    """What a block has begun.

    Attributes
    ----------
    works : List[Union[Work, MessageWork]]
        Each call's.

    """

    def __init__(self):
        self.works = []

    def append(self, work=None):
        """Add what somebody has begun."""
        if work is not None:
            self.works.append(work)

    def wait(self):
        """Wait until all is done."""
        works, self.works = self.works, []
        for work in works:
            work.wait()


@contextmanager
def _coalescing_manager(group=None, device=None, async_ops=False):
    """Have a group's collectives and messages within a `with` block begin, and wait for all of them at its end.

    Parameters
    ----------
    group : ProcessGroup, optional
        The group, the default one by default.
    device
        Not needed: each tensor tells its own.
    async_ops : bool, optional, default=False
        Whether `wait` of what the block gives is called instead, whenever it suits.

    Yields
    ------
    _CoalescingManager
        What waits for them.

    """
    manager = _CoalescingManager()
    if (group := _member(group, "_coalescing_manager")) is None:
        yield manager
        return
    core = group._core
    if core.begun is not None:
        raise AssertionError("_coalescing_manager: got a block within another one of the same group, expected one")
    core.begun = manager.works
    try:
        yield manager
    finally:
        core.begun = None
    if not async_ops:
        manager.wait()
