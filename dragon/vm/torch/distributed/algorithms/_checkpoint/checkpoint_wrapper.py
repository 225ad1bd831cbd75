"""Modules wrapped so that what they compute is not kept for the backward pass."""
import abc
import enum
import functools

from dragon.vm.torch.autograd.graph import save_on_cpu
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.utils.checkpoint import checkpoint

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(enum.Enum):
    """How things are computed again: in a backward pass of its own, or as each saved tensor is asked for."""

    REENTRANT = enum.auto()
    NO_REENTRANT = enum.auto()


def _rename(state, old, new):
    """Give the entries of a state whose names begin with one prefix another."""
    for key in [key for key in state if key.startswith(old)]:
        state[new + key[len(old):]] = state.pop(key)


class ActivationWrapper(Module, abc.ABC):
    """The base of wrappers, whose names do not show in states and names of parameters.

    Parameters
    ----------
    mod : Module
        What is wrapped.

    """

    def __init__(self, mod):
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(self._post_state_dict_hook)
        self.register_load_state_dict_pre_hook(self._pre_load_state_dict_hook)

    @abc.abstractmethod
    def forward(self, *args, **kwargs):
        """Return what the module makes of its arguments."""
        raise ValueError("Subclasses should implement forward().")

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == _CHECKPOINT_WRAPPED_MODULE:
                raise
            return getattr(self._checkpoint_wrapped_module, name)

    def __getitem__(self, key):
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args, **kwargs):
        """Yield names, as they are unwrapped, and parameters."""
        for name, param in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), param

    @staticmethod
    def _post_state_dict_hook(module, state_dict, prefix, *args):
        _rename(state_dict, prefix + _CHECKPOINT_PREFIX, prefix)
        return state_dict

    @staticmethod
    def _pre_load_state_dict_hook(module, state_dict, prefix, *args):
        _rename(state_dict, prefix, prefix + _CHECKPOINT_PREFIX)


class OffloadWrapper(ActivationWrapper):
    """A module that keeps what it saves for the backward pass on the CPU."""

    def forward(self, *args, **kwargs):
        """Return what the module makes of its arguments."""
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module that computes what it does again in the backward pass.

    Parameters
    ----------
    mod : Module
        What is wrapped.
    checkpoint_impl : CheckpointImpl, optional
        How it is computed again.
    checkpoint_fn : Callable, optional
        Called in place of `torch.utils.checkpoint.checkpoint`.
    **checkpoint_fn_kwargs
        Given to it.

    """

    def __init__(self, mod, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            checkpoint_fn = functools.partial(checkpoint, use_reentrant=checkpoint_impl is CheckpointImpl.REENTRANT)
        self.checkpoint_fn = functools.partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args, **kwargs):
        """Return what the module makes of its arguments."""
        if self.checkpoint_impl is not CheckpointImpl.REENTRANT or not kwargs:
            return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)
        names, count = list(kwargs), len(args)

        def call(*given):  # arguments by name have no gradient there
            return self._checkpoint_wrapped_module(*given[:count], **dict(zip(names, given[count:])))
        return self.checkpoint_fn(call, *args, *kwargs.values())


def offload_wrapper(module):
    """Return a module that keeps what it saves for the backward pass on the CPU."""
    return OffloadWrapper(module)


def checkpoint_wrapper(module, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
    """Return a module that computes what it does again in the backward pass; see `CheckpointWrapper`."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda _: True,
                                   auto_wrap_policy=None):
    """Wrap modules within a model, in place.

    Parameters
    ----------
    model : Module
        The model, which is not wrapped itself.
    checkpoint_wrapper_fn : Callable[[Module], Module], optional
        What wraps.
    check_fn : Callable[[Module], bool], optional
        Says which modules.
    auto_wrap_policy : Union[Callable, ModuleWrapPolicy, CustomPolicy], optional
        Says so in its place.

    """
    from dragon.vm.torch.distributed.fsdp.wrap import lambda_auto_wrap_policy, wrap_by_policy
    policy = auto_wrap_policy or functools.partial(lambda_auto_wrap_policy, lambda_fn=check_fn)
    wrap_by_policy(model, policy, checkpoint_wrapper_fn, set(), set(), {})
