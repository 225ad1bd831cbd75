"""Selective checkpointing: modes of operators that keep some results of the first computation for the second."""
import collections
import enum

from dragon.vm.torch._ops import OpOverload, OpOverloadPacket, namespace
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.utils._python_dispatch import TorchDispatchMode
from dragon.vm.torch.utils._pytree import tree_map

# What hooks and checks call a different number of times in the two computations.
SAC_IGNORED_OPS = {namespace("aten").detach.default}
ADVICE = ("This can happen if the operations in the checkpointed region are nondeterministic or depend on global state "
          "that changed between forward and backward.")
ANEW, FETCHED = object(), object()  # stand for results that are not kept, and for those that have been fetched


class CheckpointPolicy(enum.Enum):
    """The ways in which a selective checkpoint treats an operator's results."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is told of beside the operator and its arguments.

    Parameters
    ----------
    is_recompute : bool
        Whether this is the second computation; policies are asked in the first alone.
    op_output : Any, optional
        What the operator gave.

    """

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute, self.op_output = is_recompute, op_output


class _Kept:
    """One result, and how often it had been written to when it was kept."""

    def __init__(self, value):
        self.value = value.detach() if isinstance(value, Tensor) else value
        self.version = value._version if isinstance(value, Tensor) else None

    def fetch(self, may_have_changed):
        """Return the result, or raise if it was written to since."""
        if self.version is not None and self.value._version != self.version and not may_have_changed:
            raise RuntimeError("create_selective_checkpoint_contexts: got a result that was written to since, expected "
                               "it as it was. Tensor cached during selective activation checkpoint has been mutated")
        return self.value


class _CachingTorchDispatchMode(TorchDispatchMode):
    """Hear the first computation, and keep what a policy says.

    Parameters
    ----------
    policy_fn : Callable
        It is called with a SelectiveCheckpointContext, an operator and its arguments.
    storage : Dict[OpOverload, Dict[int, Any]]
        What is kept of each operator, by the number of its call.

    """

    def __init__(self, policy_fn, storage):
        super().__init__()
        self.policy_fn, self.storage, self.func_counter = policy_fn, storage, collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return made
        number = self.func_counter[func]
        self.func_counter[func] += 1
        policy = self.policy_fn(SelectiveCheckpointContext(is_recompute=False, op_output=made), func, *args, **kwargs)
        is_kept = policy in (True, CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
        self.storage[func][number] = tree_map(_Kept, made) if is_kept else ANEW
        return made


class _CachedTorchDispatchMode(TorchDispatchMode):
    """Answer in the second computation with what the first one kept.

    Parameters
    ----------
    policy_fn : Any
        Not asked: what was kept says it.
    storage : Dict[OpOverload, Dict[int, Any]]
        What is kept of each operator, by the number of its call.
    allow_cache_entry_mutation : bool, optional, default=False
        Whether what is kept may have been written to.

    """

    def __init__(self, policy_fn, storage, allow_cache_entry_mutation=False):
        super().__init__()
        self.storage, self.func_counter = storage, collections.Counter()
        self.allow_cache_entry_mutation = allow_cache_entry_mutation

    def __enter__(self):
        self.func_counter.clear()  # a further pass counts anew, and finds that all has been fetched
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        number = self.func_counter[func]
        self.func_counter[func] += 1
        kept = self.storage[func].get(number) if func in self.storage else None
        if kept is None:
            which = f"{func} invocation index {number}" if func in self.storage else func
            raise RuntimeError(f"{which} encountered during backward but not found in storage. {ADVICE}")
        if kept is FETCHED:
            raise RuntimeError("Trying to backward an extra time. You are only allowed to backward once on any region "
                               "computed under selective activation checkpoint.")
        if kept is ANEW:
            return func(*args, **(kwargs or {}))
        self.storage[func][number] = FETCHED
        return tree_map(lambda one: one.fetch(self.allow_cache_entry_mutation), kept)


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """Return the contexts of a checkpoint in which single operators are not computed again.

    Parameters
    ----------
    policy_fn_or_list : Union[Callable, List[OpOverload]]
        A function of a `SelectiveCheckpointContext`, an operator and its arguments, which returns a
        `CheckpointPolicy`; or the operators whose results are kept.
    allow_cache_entry_mutation : bool, optional, default=False
        Whether results that are kept may be written to before they are fetched.

    Returns
    -------
    Tuple[TorchDispatchMode, TorchDispatchMode]
        The contexts of the first and of the second computation.

    Examples
    --------
    >>> import functools
    >>> from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> contexts = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> y = checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=contexts)
    >>> y.sum().backward()

    """
    if callable(policy_fn_or_list):
        policy = policy_fn_or_list
    elif isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                advice = (f" Please update the OpOverloadPacket to a specific OpOverload, such as {op}.default."
                          if isinstance(op, OpOverloadPacket) else "")
                raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}."
                                 f"{advice}")

        def policy(context, op, *args, **kwargs):
            return CheckpointPolicy.MUST_SAVE if op in policy_fn_or_list else CheckpointPolicy.PREFER_RECOMPUTE
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage = collections.defaultdict(dict)
    return (_CachingTorchDispatchMode(policy, storage),
            _CachedTorchDispatchMode(None, storage, allow_cache_entry_mutation))
