"""A call of an operator with tensors on a mesh, as rules see it."""
import functools

from dragon.core import modes as switches
from dragon.core.scopes import ExitStack
from dragon.distributed.globals.boxing import box
from dragon.distributed.globals.signatures import BROADCAST, is_split
from dragon.vm.torch.core.dispatching.wrapper_subclass import stand_in
from dragon.vm.torch.core.dispatching.mode_stack import asking_nobody
from dragon.vm.torch.core.exporting.overload_resolution import bind
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta


def mapped(function, tree):
    """Return lists, tuples and dictionaries with each tensor replaced."""
    if isinstance(tree, Tensor):
        return function(tree)
    if type(tree) in (list, tuple):
        return type(tree)(mapped(function, item) for item in tree)
    return {name: mapped(function, item) for name, item in tree.items()} if type(tree) is dict else tree


def meta_of(x):
    """Return the form of a tensor."""
    return TensorMeta(tuple(x.shape), tuple(x.stride()), x.dtype)


class Operand:
    """A tensor that takes part in a call: one on the mesh, or one that all processes have.

    Parameters
    ----------
    tensor : Tensor
        The tensor.
    spec : DTensorSpec
        How it lies.
    local : Tensor
        This process's part.

    """

    __slots__ = ("tensor", "spec", "local")

    def __init__(self, tensor, spec, local):
        self.tensor, self.spec, self.local = tensor, spec, local

    signatures = property(lambda self: self.spec.signatures)
    shape = property(lambda self: self.spec.tensor_meta.shape)
    ndim = property(lambda self: len(self.spec.tensor_meta.shape))

    @property
    def bytes(self):
        """int: what the whole tensor takes."""
        found = self.local.itemsize
        for size in self.shape:
            found *= size
        return found

    def boxed(self, signatures):
        """Return this process's part by other signatures."""
        return box(ops, self.local, self.spec.layout, signatures)


class Call:
    """A call of an operator.

    Parameters
    ----------
    func : OpOverload
        The operator.
    args : tuple
        Its positional arguments.
    kwargs : Dict[str, Any]
        Its arguments by name.
    mesh : DeviceMesh
        The mesh that its tensors are on.
    operands : List[Operand]
        The tensors among its arguments, in their order.

    """

    def __init__(self, func, args, kwargs, mesh, operands):
        self.func, self.args, self.kwargs, self.mesh, self.operands = func, args, kwargs, mesh, operands
        name = str(func)
        # Operators of the engine that PyTorch lacks keep their first name: their arguments are called otherwise.
        parted = name.rpartition(".") if name.startswith("dragon.") else name.removeprefix("aten.").partition(".")
        self.packet, _, self.overload = parted

    @functools.cached_property
    def values(self):
        """Dict[str, Any]: the arguments by the schema's names, with what was not given."""
        schema = self.func._schema
        if not hasattr(schema, "arguments"):
            raise NotImplementedError(f"{self.func}: got out= beside tensors on a mesh, expected a call without it")
        found = {argument.name: argument.default_value for argument in schema.arguments}
        found.update(bind(schema, self.args, self.kwargs) or {})
        return found

    @functools.cached_property
    def written(self):
        """List[int]: which operands the call writes into."""
        schema = self.func._schema
        if not getattr(schema, "is_mutable", False):
            return []
        values = self.values
        targets = [values[argument.name] for argument in schema.arguments
                   if argument.is_write and isinstance(values.get(argument.name), Tensor)]
        return [place for place, operand in enumerate(self.operands)
                if any(operand.tensor is target for target in targets)]

    def operand(self, name):
        """Return the operand that an argument is; None where it is no tensor."""
        value = self.values.get(name)
        return next((operand for operand in self.operands if operand.tensor is value), None)

    def place(self, name):
        """Return which of the operands an argument is; None where it is no tensor."""
        value = self.values.get(name)
        return next((place for place, operand in enumerate(self.operands) if operand.tensor is value), None)

    def splits(self, operand, axis):
        """Return how axes of the mesh cut an axis of an operand: other cuts would move all of it."""
        found = []
        for signature in operand.signatures:
            if is_split(signature, axis) and signature not in found:
                found.append(signature)
        return found

    def form(self, read=lambda whole: whole):
        """Return what the call gives of whole tensors, without numbers, or what is read off that."""
        with ExitStack() as exits:
            exits.switch(switches.set_phantom, True)
            exits.switch(switches.set_recording, False)
            exits.switch(switches.set_override_disabled, True)
            with asking_nobody():
                return read(self.func.run(*mapped(stand_in, self.args), **mapped(stand_in, self.kwargs)))

    def compute(self, locals_, args=None, kwargs=None):
        """Make the call with parts in the places of the operands."""
        parts = iter(locals_)

        def part(tensor):
            return next(parts)
        args = self.args if args is None else args
        kwargs = self.kwargs if kwargs is None else kwargs
        return self.func.run(*mapped(part, tuple(args)), **mapped(part, dict(kwargs)))

    def spec(self, signatures, meta):
        """Return the spec of a result."""
        return DTensorSpec.of(self.mesh, signatures, meta)


class Decision:
    """What a rule makes of a call.

    Parameters
    ----------
    operands : Sequence[Tuple[Signature, ...]]
        What each operand shall be.
    results : Sequence[Tuple[Signature, ...]]
        What each result is then.
    compute : Callable, optional
        Makes the call of the parts; the operator itself with the same other arguments, by default.
    forms : Sequence[TensorMeta], optional
        The forms of whole results; found by the operator by default.

    """

    __slots__ = ("operands", "results", "compute", "forms")

    def __init__(self, operands, results, compute=None, forms=None):
        self.operands, self.results, self.compute, self.forms = list(operands), list(results), compute, forms


def replicated(call):
    """Return the decision that all processes do all of it, whatever comes of it."""
    whole = (BROADCAST,) * call.mesh.ndim
    return Decision([whole] * len(call.operands), [whole])
