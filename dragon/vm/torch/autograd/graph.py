"""The backward graph: nodes, edges, hooks on several tensors at once."""
import threading

from dragon import _C
from dragon.core import modes
from dragon.core.capture.regions import step_apart
from dragon.core.refusals import refusing
from dragon.core.scopes import Scope, scope
from dragon.vm.torch.core.dispatching.mode_stack import count_packer
from dragon.vm.torch.core.functions.history import accumulator
from dragon.vm.torch.core.gradients import GradientEdge
from dragon.vm.torch.core.nodes import Node  # noqa: F401
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.core.hooks import RemovableHandle


def get_gradient_edge(tensor):
    """Return the place in the graph at which a tensor's gradient arrives."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(_get_grad_fn_or_grad_acc(tensor), tensor.output_nr, None)


def _get_grad_fn_or_grad_acc(t):
    """Return the node that a tensor's gradient arrives at."""
    if isinstance(t, GradientEdge):
        return t.node
    return accumulator(t) if t.grad_fn is None else t.grad_fn


@refusing
def increment_version(tensor):
    """Count a write to tensors that was made behind the engine's back."""
    for item in [tensor] if isinstance(tensor, _C.Tensor) else tensor:
        with modes.no_grad():
            ops.fill_(item.detach()[None][:0], 0)


class saved_tensors_hooks(Scope):
    """Pack what calls save for the backward pass with one function, and unpack it there with another.

    Parameters
    ----------
    pack_hook : Callable[[Tensor], Any]
        Gets a tensor that is saved.
    unpack_hook : Callable[[Any], Tensor]
        Gets what `pack_hook` returned.

    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def _enter_scope(self, exits):
        """Pack what is saved from now on."""
        if _local.disabled:
            raise RuntimeError(_local.disabled[-1])
        exits.switch(modes.switch_saved_tensor_hooks, (self.pack_hook, self.unpack_hook, Tensor))
        count_packer(exits)
        step_apart(exits)  # graphs keep what they need by themselves
        return self


class _Local(threading.local):
    def __init__(self):
        self.disabled = []


_local = _Local()


class save_on_cpu(saved_tensors_hooks):
    """Keep what calls save for the backward pass in the host's memory.

    Parameters
    ----------
    pin_memory : bool, optional, default=False
        Whether that memory is page-locked; on a CPU it makes no difference.
    device_type : str, optional, default="cuda"
        Where the tensors come from.

    """

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda packed: packed[1].to(packed[0]))


@scope
def disable_saved_tensors_hooks(stack, error_message):
    """Make `saved_tensors_hooks` an error of the given words within a `with` block."""
    stack.push(_local.disabled, error_message)


class allow_mutation_on_saved_tensors:
    """Would copy saved tensors before they are written."""

    def __enter__(self):
        raise NotImplementedError("allow_mutation_on_saved_tensors: Dragon's engine does not see such writes ahead; "
                                  "clone the tensor before writing to it")

    def __exit__(self, *args):
        pass


class _MultiHandle(RemovableHandle):
    """One handle for hooks on several tensors."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        """Take all of the hooks away."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self):
        return self.handles

    def __setstate__(self, state):
        self.handles = state


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call a function once per backward pass with the gradients of several tensors.

    Parameters
    ----------
    tensors : Sequence[Tensor]
        Tensors that require grad.
    fn : Callable
        Gets a list of the gradients, None where none came ("all"), or the first that comes ("any").
    mode : str, optional, default="all"
        Whether to wait for all gradients, or for any.

    Returns
    -------
    RemovableHandle
        Whose `remove()` takes the hook away.

    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    lock = threading.Lock()
    if mode == "any":
        return _MultiHandle(_register_any(tensors, fn, lock))
    arrived = []

    def make(index):
        def hook(grad):
            with lock:
                arrived.append((index, grad))
                if len(arrived) < len(tensors):
                    return
                grads = [None] * len(tensors)
                for place, value in arrived:
                    grads[place] = value
                arrived.clear()
            fn(grads)
        return hook
    return _MultiHandle(tensor.register_hook(make(index)) for index, tensor in enumerate(tensors))


def _register_any(tensors, fn, lock):
    """Call `fn` with the first gradient of each round in which every tensor gets one."""
    seen = [0]

    def hook(grad):
        with lock:
            first = seen[0] == 0
            seen[0] = (seen[0] + 1) % len(tensors)
        if first:
            fn(grad)
    return [tensor.register_hook(hook) for tensor in tensors]


_switches = {"warn_on_accumulate_grad_stream_mismatch": True, "override_stale_capture_stream": False}


def set_warn_on_accumulate_grad_stream_mismatch(enabled):
    """Say whether a gradient that comes from another stream than its leaf's warns; there is one stream."""
    _switches["warn_on_accumulate_grad_stream_mismatch"] = bool(enabled)


def set_override_stale_capture_stream(enabled):
    """Say whether a stream whose capture has ended may stand for the present one; there is one stream."""
    _switches["override_stale_capture_stream"] = bool(enabled)
