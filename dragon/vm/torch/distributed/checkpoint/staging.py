"""Copies of states, which are saved while the program goes on."""
import copy
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dragon.vm import torch


@runtime_checkable
class AsyncStager(Protocol):
    """What copies states."""

    _synchronize_after_execute = True

    @property
    def should_synchronize_after_execute(self):
        """Whether the copy must be waited for once saving has begun."""
        return self._synchronize_after_execute

    def stage(self, state_dict):
        """Return a state's copy, or a future of it."""
        raise NotImplementedError(f"{type(self).__name__} must implement stage method")

    def synchronize_staging(self):
        """Wait for the copy."""

    def close(self):
        """Let go of what is held."""


@dataclass
class StagingOptions:
    """How states are copied.

    Parameters
    ----------
    use_pinned_memory : bool, optional, default=True
        Whether into memory for accelerators.
    use_shared_memory : bool, optional, default=True
        Whether into memory that other processes see.
    use_async_staging : bool, optional, default=True
        Whether by a thread.
    use_non_blocking_copy : bool, optional, default=True
        Whether an accelerator copies by itself.

    """

    use_pinned_memory: bool = True
    use_shared_memory: bool = True
    use_async_staging: bool = True
    use_non_blocking_copy: bool = True


def _copied(value, known=None):
    """Return a copy of a state; into the tensors of another copy, as far as they are there and fit."""
    if isinstance(value, torch.Tensor):
        held = value.detach()
        if isinstance(known, torch.Tensor) and known.shape == held.shape and known.dtype == held.dtype:
            return known.copy_(held)
        return held.cpu().clone() if not held.is_cpu else held.clone()
    if isinstance(value, Mapping):
        before = known if isinstance(known, Mapping) else {}
        return {key: _copied(inner, before.get(key)) for key, inner in value.items()}
    if type(value) in (list, tuple):
        before = known if isinstance(known, (list, tuple)) and len(known) == len(value) else [None] * len(value)
        return type(value)(map(_copied, value, before))
    return copy.deepcopy(value)


def _shared(value):
    if isinstance(value, torch.Tensor):
        return value.share_memory_()
    if isinstance(value, Mapping):
        return {key: _shared(inner) for key, inner in value.items()}
    return type(value)(map(_shared, value)) if type(value) in (list, tuple) else value


class BlockingAsyncStager(AsyncStager):
    """Copies states at once.

    Parameters
    ----------
    cache_staged_state_dict : bool, optional, default=False
        Whether the memory of copies is kept for the next time.
    type_check : bool, optional, default=False
        Accepted: states of any types are copied.

    """

    _synchronize_after_execute = False

    def __init__(self, cache_staged_state_dict=False, type_check=False):
        self.cache_staged_state_dict, self.type_check = cache_staged_state_dict, type_check
        self.state_dict_cache = None

    def stage(self, state_dict):
        """Return a state's copy."""
        made = _copied(state_dict, self.state_dict_cache)
        if self.cache_staged_state_dict:
            self.state_dict_cache = made
        return made

    def synchronize_staging(self):
        """Nothing is left to wait for."""

    def close(self):
        """Let go of the copy."""
        self.state_dict_cache = None


class DefaultStager(AsyncStager):
    """Copies states at once, or by a thread.

    Parameters
    ----------
    config : StagingOptions, optional
        How.

    """

    def __init__(self, config=StagingOptions()):
        if config.use_non_blocking_copy and not torch.accelerator.is_available():
            raise AssertionError("Non-blocking copy requires that the current accelerator is available.")
        self._config, self._staging_future = config, None
        self._staging_executor = ThreadPoolExecutor(max_workers=1) if config.use_async_staging else None

    def stage(self, state_dict):
        """Return a state's copy, or a future of it."""
        if self._staging_executor is None:
            return self._stage(state_dict)
        self._staging_future = self._staging_executor.submit(self._stage, state_dict)
        return self._staging_future

    def _stage(self, state_dict):
        made = _copied(state_dict)
        return _shared(made) if self._config.use_shared_memory else made

    def synchronize_staging(self):
        """Wait for the copy."""
        if self._staging_future is not None:
            self._staging_future.result()

    def close(self):
        """End the thread."""
        if self._staging_executor is not None:
            self._staging_executor.shutdown(wait=True)
