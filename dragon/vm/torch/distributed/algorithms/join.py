"""Processes with different numbers of batches: those that are done early go on with the collectives of the others."""
import abc
from typing import NamedTuple

from dragon.core import warnings
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.distributed import collectives


class JoinHook:
    """What a process does once its own batches are done; the base does nothing."""

    def main_hook(self):
        """Take part in the collectives of one step of the others."""

    def post_hook(self, is_last_joiner):
        """Do what is left once all are done."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config():
        """Return what holds outside of `Join`."""
        return _JoinConfig(False, False, False)


class Joinable(abc.ABC):
    """What `Join` takes: something whose steps have collectives."""

    @abc.abstractmethod
    def __init__(self):
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abc.abstractmethod
    def join_hook(self, **kwargs):
        """Return its `JoinHook`."""

    @property
    @abc.abstractmethod
    def join_device(self):
        """torch.device: where what `Join` itself sends lies."""

    @property
    @abc.abstractmethod
    def join_process_group(self):
        """ProcessGroup: who takes part."""


class Join:
    """Let processes have different numbers of batches within a `with` block.

    Parameters
    ----------
    joinables : List[Joinable]
        What has collectives in each step; the first one calls `notify_join_context`.
    enable : bool, optional, default=True
        Whether it does anything.
    throw_on_early_termination : bool, optional, default=False
        Whether all raise as soon as one is done, rather than to go on.
    **kwargs
        Given to `join_hook` of each.

    """

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables, self._enable, self._throws = joinables, enable, throw_on_early_termination
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        groups = {id(joinable.join_process_group) for joinable in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        self._group, self._device = joinables[0].join_process_group, joinables[0].join_device
        for place, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, place == 0)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if not self._enable or kind:
            return
        is_last, shadowed = True, 0
        while self._count_others():
            if self._throws:
                self._tell_to_end()
            is_last = False
            if shadowed == 1000:
                warnings.warn("Detected uneven input skew of greater than 1000. This means that rank "
                              f"{self._group.rank()} has at least 1000 fewer inputs than other currently-active ranks.")
            for hook in self._hooks:
                hook.main_hook()
            shadowed += 1
        for hook in self._hooks:
            hook.post_hook(is_last)

    def _count_others(self):
        """Return how many processes have batches left."""
        return int(_summed(0, self._group, self._device))

    def _tell_to_end(self):
        _summed(1, self._group, self._device)
        raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")

    @staticmethod
    def notify_join_context(joinable):
        """Tell those that are done that a step of this process begins; return the work, or None outside of `Join`."""
        config = getattr(joinable, "_join_config", None)
        if config is None:
            raise AttributeError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        if not config.is_first_joinable or not config.enable:
            return None
        group = joinable.join_process_group
        ones = ops.ones((1,), device=joinable.join_device)
        work = collectives.all_reduce(ones, group=group, async_op=True)
        if config.throw_on_early_termination and _summed(0, group, joinable.join_device):
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work


def _summed(number, group, device):
    total = ops.full((1,), float(number), device=device)
    collectives.all_reduce(total, group=group)
    return total.item()
