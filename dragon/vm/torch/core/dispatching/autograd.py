"""Autograd above `__torch_dispatch__`: a dispatched call is recorded for backward as any other."""
import functools

from dragon import _C
from dragon.core import modes as switches
from dragon.core.custom_function import FREED
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.aten.kinds import ADDITIVE, has_history, kinds_of
from dragon.vm.torch.core.dispatching.derivatives import derivatives_of, gradients_of
from dragon.vm.torch.core.dispatching.engine_gradients import replayed
from dragon.vm.torch.core.dispatching.wrapper_subclass import bare, is_wrapper, revive, revive_all, stand_in
from dragon.vm.torch.core.dispatching.mode_stack import asking_nobody, is_packing, leaves
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.overload_resolution import bind
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.utils._pytree import tree_map


class _Forms:
    """A call's arguments, to look at how they lie."""

    def __init__(self, values):
        self.values = values

    def __getattr__(self, name):
        if name not in self.__dict__.get("values", {}):
            raise AttributeError(name)
        return self.values[name]


class Answered:
    """A call that was answered for, as its gradient is asked of it.

    Parameters
    ----------
    target : OpOverload
        The operator.
    args : tuple
        Its positional arguments.
    kwargs : Dict[str, Any]
        Its arguments by name.

    """

    def __init__(self, target, args, kwargs):
        self.target, self.args, self.kwargs = target, args, kwargs
        schema, self.values = target._schema, {}
        if schema is not None and hasattr(schema, "arguments"):
            self.values = {argument.name: argument.default_value for argument in schema.arguments}
            self.values.update(bind(schema, args, kwargs) or {})
        self.slots = [(name, place, item) for name, value in (self.values or dict(enumerate(args))).items()
                      for place, item in (enumerate(value) if isinstance(value, (list, tuple)) else ((None, value),))
                      if isinstance(item, Tensor) and item.requires_grad]
        self.form = _Forms(self.values)
        self.node, self.kept, self.versions, self.packed = None, (), {}, {}

    def remember(self, results):
        """Note what has been written so far: a later write to what a gradient reads is an error."""
        # Results are kept without their history, which is the node that keeps them.
        row = derivatives_of(self.target)
        if row is not None and any(name.startswith("result") for name in row.read):
            self.kept = tuple((_C.SavedTensor(item, True), _version(item)) if isinstance(item, Tensor) else None
                              for item in results)
        self.versions = {id(item): _version(item) for item in leaves(self.args, self.kwargs)
                         if isinstance(item, Tensor) and id(item) not in self.packed}

    def pack(self):
        """Hand the arguments to who packs what is saved, and hold others in their places that have no memory."""
        if not is_packing():
            return
        others, row = {}, derivatives_of(self.target)
        if row is not None:
            read = [value for name, value in self.values.items() if name in row.read]
        else:  # the gradient of a sum reads nothing
            read = () if ADDITIVE in kinds_of(self.target.overloadpacket.__name__) else (self.args, self.kwargs)
        for item in leaves(*read):
            if isinstance(item, Tensor) and id(item) not in others and not is_wrapper(item):
                other = others[id(item)] = _like(item)
                self.packed[id(other)] = _C.SavedTensor(item)

        def swapped(tree):
            return tree_map(lambda item: others.get(id(item), item), tree)
        self.args, self.kwargs, self.values = swapped((self.args, self.kwargs, self.values))
        self.slots = [(name, place, others.get(id(item), item)) for name, place, item in self.slots]
        self.form = _Forms(self.values)

    def read(self, value):
        """Return an argument whose numbers a gradient asks for."""
        for item in leaves(value):
            if id(item) in self.versions:
                self.unwritten(item, self.versions[id(item)])
        if not self.packed:
            return value
        return tree_map(lambda item: revive(self.packed[id(item)].unpack(self.node)) if id(item) in self.packed
                        else item, value)

    def unwritten(self, item, version):
        """Return a tensor that has not been written to since it had a version."""
        writes = _version(item) - version
        if writes:
            raise RuntimeError(
                f"{self.target}: got a tensor of shape {tuple(item.shape)} that was written {writes} time(s) since the "
                "forward call, expected what its gradient reads (clone it before writing in place). one of the "
                "variables needed for gradient computation has been modified by an inplace operation")
        return item

    def wants(self, name):
        """Return whether the gradient of an argument is asked for."""
        return any(name == known for known, _, _ in self.slots)

    def result(self, place=0):
        """Return a result of the call."""
        kept, version = self.kept[place]
        found = revive(kept.unpack(self.node))
        return self.unwritten(found, version)

    def release(self):
        """Let go of everything, once a backward pass has used it."""
        self.kept = self.values = self.form = self.args = self.kwargs = None
        self.versions, self.packed = {}, {}

    def gradients(self, grads):
        """Return the gradients of the arguments that have any, in the order of `slots`."""
        if self.kept is None:
            raise RuntimeError(f"{self.target}: {FREED}")
        made = gradients_of(self, grads)
        if made is NotImplemented:
            return replayed(self, grads)
        return [made.get(name) if place is None or made.get(name) is None else made[name][place]
                for name, place, _ in self.slots]


def recorded(dispatcher, target, args, kwargs):
    """Return what an operator gives that is answered for, recorded where gradients are.

    Parameters
    ----------
    dispatcher : Dispatcher
        Who has it answered.
    target : OpOverload
        The operator.
    args : tuple
        Its positional arguments.
    kwargs : Dict[str, Any]
        Its arguments by name.

    Returns
    -------
    Any
        The results.

    """
    if not switches.is_recording() or not _has_gradient(target) or not any(
            isinstance(item, Tensor) and item.requires_grad for item in leaves(args, kwargs)):
        result = dispatcher.answered(target, args, kwargs)
        _count_writes(target, args, kwargs)
        return result
    call = Answered(target, args, kwargs)
    written = _written(target, args, kwargs)
    if any(item.is_leaf and item.requires_grad for item in written):
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if written and derivatives_of(target) is None:  # its gradient may ask what was there before
        copy = aten().clone.default
        call.args = tuple(dispatcher.answered(copy, (item,), {}) if any(item is other for other in written) else item
                          for item in args)
        call.slots = [(name, place, next((new for new, old in zip(call.args, args) if old is item), item))
                      for name, place, item in call.slots]
        originals = [item for item in leaves(args, kwargs) if isinstance(item, Tensor) and item.requires_grad]
    else:
        originals = [item for _, _, item in call.slots]
    call.pack()  # before the call, as a checkpoint that has all it needs computes no more
    result = dispatcher.answered(target, args, kwargs)
    _count_writes(target, args, kwargs)
    given = [item for item in leaves(args, kwargs) if isinstance(item, Tensor)]
    many = isinstance(result, (list, tuple))
    outputs = [_own(item, given, written) for item in (result if many else [result])]
    if call.slots and any(_has_history(item) for item in outputs):
        _record(call, originals, outputs)
    return type(result)(outputs) if many and type(result) in (list, tuple) else outputs if many else outputs[0]


@functools.cache
def _has_gradient(target):
    """Return whether what an operator gives may have a gradient; of programs' own operators nothing is known."""
    if target.namespace != "aten":
        return True
    gives = getattr(target._schema, "returns", None)  # forms that write into `out` have no signature
    if gives is not None and not any("Tensor" in part.type for part in gives):
        return False
    return has_history(target.overloadpacket.__name__)


def _like(item):
    """Return a tensor that lies on no memory of its size, and is otherwise as another."""
    with ExitStack() as exits:
        exits.switch(switches.set_override_disabled, True)
        with asking_nobody():
            single = ops.zeros((), dtype=item.dtype, device=item.device)
            return ops.expand(single, tuple(item.shape)).requires_grad_(item.requires_grad)


def _written(target, args, kwargs):
    schema = target._schema
    if not getattr(schema, "is_mutable", False):
        return []
    values = bind(schema, args, kwargs) or {}
    return [values[argument.name] for argument in schema.arguments
            if argument.is_write and isinstance(values.get(argument.name), Tensor)]


def _version(item):
    return _C.Tensor._version.__get__(stand_in(item))


def _count_writes(target, args, kwargs):
    """Count a write to wrappers, of which the engine sees only those to what they wrap."""
    for item in _written(target, args, kwargs):
        if is_wrapper(item):
            bare(lambda lies: ops.fill_(lies[None][:0], 0), (item,), {})


def _has_history(item):
    return isinstance(item, Tensor) and (item.is_floating_point() or item.is_complex())


def _own(item, given, written):
    """Return a result as an object of its own: one that was handed in keeps its history."""
    if not isinstance(item, Tensor) or any(item is other for other in written):
        return item
    if any(item is other for other in given) or item.requires_grad:
        with ExitStack() as exits:
            exits.switch(switches.set_override_disabled, True)
            return _alias(item)
    return item


def _alias(item):
    kind, made = type(item), revive(_C.Tensor.detach(item))
    if type(made) is not kind:
        made.__class__ = kind
        made.__dict__.update(item.__dict__)
    return made


def _record(call, inputs, outputs):
    """Stand the call's gradient behind its results."""
    def backward(node, *grads):
        call.node = node
        try:
            found = call.gradients(revive_all(list(grads)))
        finally:
            call.node = None  # the node owns this function: holding it would keep both for ever
        return tuple(found)
    backward.release = call.release
    packet = call.target.overloadpacket.__name__.strip("_")
    name = "".join(word.capitalize() for word in packet.split("_")) + "Backward0"
    kept = [item if _has_history(item) else None for item in outputs]
    _C.record(name, backward, inputs, kept)
    call.remember(outputs)
