"""Backward passes: what the functions of `torch.autograd` and the methods of tensors ask of the engine."""
import threading
from collections import namedtuple

from dragon import _C
from dragon.core.scopes import Scope
from dragon.vm.torch.core.exporting.tracing_state import fall_back_to_engine
from dragon.vm.torch.core.kinds import exchanged, is_of_parts, told_shape, values_of
from dragon.vm.torch.core.layout import preserve_format
from dragon.vm.torch.core.overrides import beneath
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops

HOME = __name__.replace("core.gradients", "autograd")  # where PyTorch has them
GradientEdge = namedtuple("GradientEdge", ["node", "output_nr", "ownership_token"], defaults=[None],
                          module=f"{HOME}.graph")


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Add the gradients of tensors into the `grad` of the leaves they were computed from.

    Parameters
    ----------
    tensors : Union[Tensor, Sequence[Tensor]]
        What is differentiated.
    grad_tensors : Union[Tensor, Sequence[Optional[Tensor]]], optional
        Gradients of something with respect to the tensors; 1 for a tensor of one element.
    grad_variables : Union[Tensor, Sequence[Optional[Tensor]]], optional
        The old name of `grad_tensors`.
    inputs : Union[Tensor, Sequence[Tensor], Dict[str, Tensor]], optional
        Accumulate into these only.

    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("backward: got `grad_tensors` and `grad_variables`, its old name; expected one of them")
        grad_tensors = grad_variables
    fall_back_to_engine()
    tensors = as_tuple(tensors)
    grads = check_grads(tensors, grad_tensors)
    retain_graph = create_graph if retain_graph is None else retain_graph
    tensors, grads = told_by_values(tensors, grads)
    with PASS as queue:
        _accumulate(tensors, grads, retain_graph, create_graph, inputs)
    call_queued(queue)


def _accumulate(tensors, grads, retain_graph, create_graph, inputs):
    if inputs is None:
        return _C.backward(tensors, grads, retain_graph, create_graph, None)
    inputs = tuple(inputs.values()) if isinstance(inputs, dict) else as_tuple(inputs)
    inputs = tuple(values_of(item) if is_of_parts(item) else item for item in inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    with WANTING:
        if all(item.is_leaf for item in inputs):
            return _C.backward(tensors, grads, retain_graph, create_graph, inputs)
        # The engine accumulates into leaves; computed tensors get theirs here.
        for item, found in zip(inputs, _C.grad(tensors, inputs, grads, retain_graph, create_graph, True)):
            if found is not None:
                item.grad = found if item.grad is None else item.grad + found


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
         allow_unused=None, is_grads_batched=False, materialize_grads=False):
    """Return the gradients of tensors with respect to others; nothing is accumulated.

    Parameters
    ----------
    outputs : Union[Tensor, Sequence[Tensor]]
        What is differentiated.
    inputs : Union[Tensor, Sequence[Tensor], Dict[str, Tensor]]
        With respect to what.
    grad_outputs : Union[Tensor, Sequence[Optional[Tensor]]], optional
        Gradients of something with respect to the outputs; 1 for one of a single element.
    only_inputs : bool, optional, default=True
        Of old; always true.
    allow_unused : bool, optional
        Return None for an input that no output depends on; otherwise that is an error.
    is_grads_batched : bool, optional, default=False
        Whether `grad_outputs` have a leading axis, along which the gradients are computed one by one and stacked.
    materialize_grads : bool, optional, default=False
        Return zeros in place of None.

    Returns
    -------
    Union[Tuple[Optional[Tensor], ...], Dict[str, Optional[Tensor]]]
        One for each of the inputs.

    Examples
    --------
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(x ** 2, x)
    (tensor(6.),)

    """
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: got allow_unused=False with materialize_grads=True, expected it True or left out")
    fall_back_to_engine()
    outputs = as_tuple(outputs)
    names = list(inputs) if isinstance(inputs, dict) else None
    inputs = tuple(inputs.values()) if names is not None else as_tuple(inputs)
    if not inputs and not is_grads_batched:
        raise RuntimeError("grad: got no inputs, but the `inputs` argument to `grad()` cannot be empty.")
    refuse_edges("grad", outputs, inputs)
    retain_graph = create_graph if retain_graph is None else retain_graph
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    with PASS as queue, WANTING:
        if is_grads_batched:
            found = batched_grad(outputs, inputs, as_tuple(grad_outputs), retain_graph, create_graph, allow_unused)
        else:
            grads = check_grads(outputs, grad_outputs)
            told, grads = told_by_values(outputs, grads)
            wanted = tuple(values_of(item) if is_of_parts(item) else item for item in inputs)
            found = _C.grad(told, wanted, grads, retain_graph, create_graph, allow_unused)
            found = tuple(exchanged(item.detach(), got) if got is not None and is_of_parts(item) else got
                          for got, item in zip(found, inputs))
    call_queued(queue)
    found = revived(found)
    if materialize_grads:
        found = tuple(ops.zeros_like(item) if got is None else got for got, item in zip(found, inputs))
    return found if names is None else dict(zip(names, found))


def told_by_values(outputs, grads):
    """Return outputs and their gradients, with the values of those made of parts, which have the history, for them."""
    if not any(is_of_parts(item) for item in outputs):
        return outputs, grads
    pairs = [(output, given) if not is_of_parts(output) else
             (values_of(output), None if given is None else output.detach()._aligned(given))
             for output, given in zip(outputs, grads)]
    return tuple(zip(*pairs))


class _Wanting(Scope):
    """A backward pass to some tensors only, within which a reentrant checkpoint cannot run one of its own."""

    def _enter_scope(self, exits):
        """Have none run from now on."""
        exits.set(_local, "valid", False)


class _Local(threading.local):
    """What a thread is within."""

    within = 0, None  # how deep in passes, and what is queued
    valid = True  # whether a pass accumulates into all leaves


_local = _Local()


class _Pass(Scope):
    """A backward pass within a `with` block, which binds a list of what is to be called once it is done."""

    def _enter_scope(self, exits):
        """Be one deeper; what is queued within a pass in another one is called when the outermost one is done."""
        depth, queue = _local.within
        exits.set(_local, "within", (depth + 1, [] if queue is None else queue))
        return [] if depth else _local.within[1]


PASS, WANTING = _Pass(), _Wanting()


def call_queued(queue):
    """Call what was queued within a backward pass; nothing within one that ended with an exception."""
    while queue:
        queue.pop(0)()


def is_within_another():
    """Return whether the backward pass that runs was begun within another one, as by a reentrant checkpoint."""
    return _local.within[0] > 1


def queue_callback(callback):
    """Have a function called once the backward pass that runs is done.

    Parameters
    ----------
    callback : Callable[[], Any]
        The function.

    """
    queue = _local.within[1]
    if queue is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    queue.append(callback)


def _is_checkpoint_valid():
    """Return whether the backward pass that runs accumulates into all leaves."""
    return _local.valid


def batched_grad(outputs, inputs, grads, retain_graph, create_graph, allow_unused):
    """Return gradients for several gradients of the outputs, stacked along a new first axis."""
    count = next((len(item) for item in grads if item is not None), None)
    if count is None:
        raise RuntimeError("grad: got None for all gradients, expected one at least that tells how many are in a batch")
    rows = []
    for index in range(count):
        row = tuple(None if item is None else item[index] for item in grads)
        last = index == count - 1
        rows.append(_C.grad(outputs, inputs, check_grads(outputs, row), retain_graph or not last, create_graph,
                            allow_unused))
    return tuple(None if items[0] is None else ops.stack(items) for items in zip(*rows))


def as_tuple(value):
    """Return one tensor or a sequence of them as a tuple."""
    return (value,) if isinstance(value, (Tensor, GradientEdge)) else () if value is None else tuple(value)


def refuse_edges(who, *groups):
    """Raise for gradient edges: the engine takes tensors only."""
    for group in groups:
        for item in group:
            if isinstance(item, GradientEdge):
                raise NotImplementedError(f"{who}: got a GradientEdge, expected tensors: Dragon's engine starts and "
                                          f"ends at tensors only")


def check_grads(outputs, grads):
    """Return the gradients of outputs as a tuple with one for each, or raise as PyTorch does."""
    refuse_edges("backward", outputs)
    grads = (None,) * len(outputs) if grads is None else as_tuple(grads)
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    for index, (output, given) in enumerate(zip(outputs, grads)):
        if given is None:
            if output.requires_grad and output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs; "
                                   f"got a result of shape {tuple(output.shape)} and no gradient of it")
            if output.requires_grad and not output.dtype.is_floating_point:
                raise RuntimeError("grad can be implicitly created only for real scalar outputs "
                                   f"but got {output.dtype}")
        elif not isinstance(given, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
        elif told_shape(given) != told_shape(output):
            raise RuntimeError(f"Mismatch in shape: grad_output[{index}] has a shape of {told_shape(given)} and output"
                               f"[{index}] has a shape of {told_shape(output)}.")
        elif given.dtype.is_complex != output.dtype.is_complex:
            raise RuntimeError(f"grad_output[{index}] has dtype {given.dtype} and output[{index}] has dtype "
                               f"{output.dtype}, expected both real or both complex")
        if not output.requires_grad:
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
    if beneath:  # who answers for operators is told of the ones, too
        grads = tuple(FUNCTIONS["ones_like"](output, memory_format=preserve_format) if given is None else given
                      for output, given in zip(outputs, grads))
    return grads


def revived(found):
    """Return gradients as instances of the classes that answer for their operators."""
    for who in beneath:
        found = who.revive(found)
    return found


backward.__module__ = grad.__module__ = HOME
