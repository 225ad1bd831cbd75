"""Checkpointing: a part of a model is computed again in the backward pass, and keeps nothing until then."""
import contextlib
import threading
import weakref

from dragon.core import warnings
from dragon import _C
from dragon.core import modes
from dragon.core.random import current_generator
from dragon.core.scopes import contextmanager, scope
from dragon.vm.torch.amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_cache_enabled, \
    is_autocast_enabled
from dragon.vm.torch.core.gradients import _is_checkpoint_valid, backward as run_backward
from dragon.vm.torch.autograd.function import Function
from dragon.vm.torch.autograd.grad_mode import enable_grad, no_grad
from dragon.vm.torch.autograd.graph import saved_tensors_hooks
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.cuda.random import get_rng_state, set_rng_state
from dragon.vm.torch.utils._pytree import tree_flatten
from dragon.vm.torch.utils._selective_checkpoint import (  # noqa: F401
    SAC_IGNORED_OPS, CheckpointPolicy, SelectiveCheckpointContext, _CachedTorchDispatchMode, _CachingTorchDispatchMode,
    create_selective_checkpoint_contexts)

_options = threading.local()


class CheckpointError(RuntimeError):
    """The second computation differs from the first."""


class _StopRecomputationError(Exception):
    """All that was saved has been computed again."""


def detach_variable(inputs):
    """Return arguments with fresh leaves for their tensors."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(item.detach().requires_grad_(item.requires_grad) if isinstance(item, Tensor) else item
                 for item in inputs)


def check_backward_validity(inputs):
    """Warn if no argument requires grad: there will be no backward pass."""
    if not any(item.requires_grad for item in inputs if isinstance(item, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None")


def noop_context_fn():
    """Return two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Circumstances:
    """The state that a computation depends on besides its arguments: the stream of random numbers, and autocast."""

    def __init__(self, preserve_rng_state):
        self.state = _C.Generator.get_whole_state(current_generator()) if preserve_rng_state else None
        self.autocast = {"enabled": is_autocast_enabled("cpu"), "dtype": get_autocast_dtype("cpu"),
                         "cache_enabled": is_autocast_cache_enabled()}

    def again(self):
        """Bring them back within a `with` block."""
        return _again(self)


@scope
def _again(stack, circumstances):
    if circumstances.state is not None:
        generator = current_generator()
        stack.callback(_C.Generator.set_whole_state, generator, _C.Generator.get_whole_state(generator))
        _C.Generator.set_whole_state(generator, circumstances.state)
    stack.enter(enable_grad())
    stack.enter(autocast("cpu", **circumstances.autocast))


class CheckpointFunction(Function):
    """The reentrant kind: a Function whose backward computes again and runs a backward pass of its own."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.circumstances = _Circumstances(preserve_rng_state)
        ctx.inputs = [None if isinstance(item, Tensor) else item for item in args]
        ctx.places = [index for index, item in enumerate(args) if isinstance(item, Tensor)]
        ctx.save_for_backward(*(args[index] for index in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *args):
        if not _is_checkpoint_valid():
            raise RuntimeError("When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                               "passing an `inputs` parameter to .backward(): set use_reentrant=False")
        inputs = list(ctx.inputs)
        for index, tensor in zip(ctx.places, ctx.saved_tensors):
            inputs[index] = tensor
        inputs = detach_variable(tuple(inputs))
        with ctx.circumstances.again():
            outputs = ctx.run_function(*inputs)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [(output, grad) for output, grad in zip(outputs, args)
                 if isinstance(output, Tensor) and output.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([output for output, _ in pairs], [grad for _, grad in pairs])
        return (None, None, *(item.grad if isinstance(item, Tensor) else None for item in inputs))


class _Holder:
    """Stands in the graph for a tensor that is not there yet."""

    __slots__ = ("index", "__weakref__")

    def __init__(self, index):
        self.index = index


class _Frame:
    """One checkpointed call: what it saved, and how to compute it again."""

    def __init__(self, call, circumstances, context, check, early_stop):
        self.call, self.circumstances, self.context = call, circumstances, context
        self.check, self.early_stop = check, early_stop
        self.likes, self.holders, self.found = [], [], {}

    def pack(self, tensor):
        """Note what is saved, and save a number in its place."""
        holder = _Holder(len(self.likes))
        self.likes.append(describe(tensor))
        self.holders.append(weakref.ref(holder))
        return holder

    def unpack(self, holder):
        """Return what a number stands for, after everything has been computed again."""
        if holder.index not in self.found:
            self.recompute()
        # What is fetched is forgotten: another backward pass computes it again.
        return self.found.pop(holder.index)

    def recompute(self):
        """Compute again, and keep what is saved this time for those who wait for it."""
        count, likes = 0, []
        self.found = {}

        def keep(tensor):
            nonlocal count
            if count < len(self.holders):
                likes.append(describe(tensor))
                if self.holders[count]() is not None:
                    self.found[count] = tensor.detach()
            count += 1
            if self.early_stop and count == len(self.holders):
                raise _StopRecomputationError
            return tensor.detach()

        with self.circumstances.again(), self.context, saved_tensors_hooks(keep, lambda kept: kept):
            try:
                self.call()
            except _StopRecomputationError:
                pass
        if count != len(self.holders):
            raise CheckpointError("torch.utils.checkpoint: A different number of tensors was saved during the original "
                                  f"forward and recomputation: got {count}, expected {len(self.holders)}")
        for index, (now, before) in enumerate(zip(likes, self.likes)):
            if self.check and now != before:
                raise CheckpointError("torch.utils.checkpoint: Recomputed values for the following tensors have "
                                      "different metadata than during the forward pass: tensor at position "
                                      f"{index}: got {now}, expected {before}")


def describe(tensor):
    """Return what must be the same both times."""
    return {"shape": tuple(tensor.shape), "dtype": tensor.dtype, "device": tensor.device}


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default",
               debug=False, early_stop=True, **kwargs):
    """Call a function whose intermediate results are not kept, but computed again in the backward pass.

    Parameters
    ----------
    function : Callable
        What is called.
    *args
        Its arguments.
    use_reentrant : bool, optional
        Whether the second computation runs a backward pass of its own (True, with a warning if left out), or delivers
        each saved tensor when asked (False).
    context_fn : Callable, optional
        Returns the contexts of the two computations.
    determinism_check : str, optional, default="default"
        Whether both must save tensors of the same shapes, or "none".
    debug : bool, optional, default=False
        Not supported.
    early_stop : bool, optional, default=True
        Whether the second computation ends as soon as everything is there.
    **kwargs
        Named arguments; and `preserve_rng_state` (True): whether both computations draw the same random numbers.

    Returns
    -------
    Any
        What the function returns.

    Examples
    --------
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> y = torch.utils.checkpoint.checkpoint(lambda x: x ** 3, x, use_reentrant=False)
    >>> y.backward()
    >>> x.grad
    tensor([12.])

    """
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly; it is taken "
                      "for True. use_reentrant=False is recommended.")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if debug:
        raise NotImplementedError("checkpoint: got debug=True, expected False: Dragon keeps no log of operators")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    forward_context, context = context_fn()
    if not modes.is_recording():
        with forward_context:
            return function(*args, **kwargs)
    chosen = getattr(_options, "early_stop", None)
    frame = _Frame(lambda: function(*args, **kwargs), _Circumstances(preserve), context,
                   determinism_check == "default", early_stop if chosen is None else chosen)
    with saved_tensors_hooks(frame.pack, frame.unpack), forward_context:
        return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Call functions one after the other, checkpointing all segments but the last.

    Parameters
    ----------
    functions : Union[Sequential, Sequence[Callable]]
        The functions.
    segments : int
        Into how many parts they are cut.
    input : Any
        What the first one gets.
    use_reentrant : bool, optional
        As for `checkpoint`.
    **kwargs
        `preserve_rng_state`.

    Returns
    -------
    Any
        What the last one returns.

    """
    if use_reentrant is None:
        warnings.warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
                      "explicitly; it is taken for True.")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children() if hasattr(functions, "children") else functions)

    def chain(some):
        def call(value):
            for function in some:
                value = function(value)
            return value
        return call
    size = len(functions) // segments
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(chain(functions[start:start + size]), input, use_reentrant=use_reentrant,
                           preserve_rng_state=preserve)
    return chain(functions[size * (segments - 1):])(input)


@contextmanager
def set_checkpoint_early_stop(enable):
    """Choose for all calls within a `with` block whether second computations end early."""
    before = getattr(_options, "early_stop", None)
    _options.early_stop = enable
    try:
        yield
    finally:
        _options.early_stop = before


class DefaultDeviceType:
    """The type of device whose random state is kept besides the CPU's."""

    _default_device_type = "cuda"

    @staticmethod
    def set_device_type(device="cuda"):
        """Set the type."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type():
        """Return the type."""
        return DefaultDeviceType._default_device_type


def get_device_states(*args):
    """Return the CUDA devices that tensors lie on, and their random states."""
    tensors = [leaf for leaf in tree_flatten(args)[0] if isinstance(leaf, Tensor)]
    indices = sorted({tensor.device.index for tensor in tensors if tensor.device.type == "cuda"})
    return indices, [get_rng_state(index) for index in indices]


def set_device_states(devices, states, *, device_type=None):
    """Set the random states of CUDA devices."""
    if device_type not in (None, "cuda"):
        raise NotImplementedError(f"set_device_states: got device_type {device_type!r}, expected 'cuda'")
    for device, state in zip(devices, states, strict=True):
        set_rng_state(state, device)


class GraphExecGroup:
    """Say that backward passes within a `with` block share what is computed again, as they do in any case.

    What one pass has computed again and not used is there for the next: passes over parts of a graph that do not
    overlap compute it once. Groups do not nest.
    """

    def __enter__(self):
        if self._get_current_group() is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {_options.group}")
        _options.group = self
        return self

    def __exit__(self, *_):
        _options.group = None

    @classmethod
    def _get_current_group(cls):
        return getattr(_options, "group", None)


def set_checkpoint_debug_enabled(enabled):
    """Say that there is no debug mode, unless it is switched off."""
    if enabled:
        raise NotImplementedError("set_checkpoint_debug_enabled: Dragon keeps no log of operators")
