"""The `dynamic_shapes` argument of `torch.export`, normalized: a dim for each axis of each leaf of the arguments."""
import dataclasses
import inspect

from dragon.vm.torch._dynamo.exc import UserError, UserErrorType
from dragon.vm.torch.core.exporting.ranges import Axis
from dragon.vm.torch.core.exporting.symbols import OPEN, Expression, SymInt, ValueRanges
from dragon.vm.torch.core.exporting.program_trace import argument_names
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting.dims import Dim, ShapesCollection, _DerivedDim, _DimHint
from dragon.vm.torch.core.exporting.signatures import InputKind
from dragon.vm.torch.utils import _pytree as pytree

WOULD_DO = "expected None, an int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC"


def _invalid(text):
    return UserError(UserErrorType.INVALID_INPUT, text)


def _grouped(function, args, kwargs):
    """Return {argument: value}, entries of `*args` together."""
    parameters = list(inspect.signature(function).parameters.values())
    plain = [item.name for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    rest = next((item.name for item in parameters if item.kind is item.VAR_POSITIONAL), None)
    found = dict(zip(plain, args))
    if len(args) > len(plain) and rest:
        found[rest] = tuple(args[len(plain):])
    found.update(kwargs)
    return found


class _Asked:
    """Walks arguments and what is said of their sizes side by side."""

    def __init__(self):
        self.leaf, self.found, self.sources = 0, {}, {}

    def walk(self, value, shape, path, source):
        if isinstance(value, Tensor):
            self._tensor(value, shape, path, source)
            self.leaf += 1
            return
        children = _children(value)
        if children is None:
            if shape is not None and not isinstance(shape, (int, str, float)) and not isinstance(shape, _DimHint):
                raise _invalid(f"Cannot associate shape {shape} specified at `dynamic_shapes{path}` to non-tensor type "
                               f"{type(value)} (expected None)")
            self.leaf += 1
            return
        self._container(children, value, shape, path, source)

    def _container(self, children, value, shape, path, source):
        if shape is None:
            for key, child in children:
                self.walk(child, None, f"{path}[{key!r}]", f"{source}[{key!r}]")
            return
        if isinstance(value, dict):
            if not isinstance(shape, dict) or set(shape) != set(value):
                raise _invalid(f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
                               f"`inputs{path}` has keys {list(value)}, but `dynamic_shapes{path}` has "
                               f"{list(shape) if isinstance(shape, dict) else shape}")
            parts = [shape[key] for key in value]
        else:
            parts = list(shape.values()) if isinstance(shape, dict) else shape
            if not isinstance(parts, (list, tuple)) or len(parts) != len(children):
                raise _invalid(f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: "
                               f"`inputs{path}` has {len(children)} elements, but `dynamic_shapes{path}` has "
                               f"{len(parts) if isinstance(parts, (list, tuple)) else parts}")
        for (key, child), part in zip(children, parts):
            self.walk(child, part, f"{path}[{key!r}]", f"{source}[{key!r}]")

    def _tensor(self, tensor, shape, path, source):
        self.sources[self.leaf] = source
        if shape is None:
            return
        if isinstance(shape, dict):
            items = shape.items()
        elif isinstance(shape, (list, tuple)):
            if len(shape) != tensor.ndim:
                raise _invalid(f"Expected dynamic shape spec {shape} specified at `dynamic_shapes{path}` to have the "
                               f"same length as the actual tensor shape {tensor.shape} (expected {tensor.ndim}, but "
                               f"got {len(shape)} instead)")
            items = enumerate(shape)
        else:
            raise _invalid(f"Unexpected dynamic_shape {shape} of Tensor, try None instead" if isinstance(
                shape, (int, str, Dim)) else f"Unexpected input tensor shape {shape} specified at "
                f"`dynamic_shapes{path}` (expected either a list/tuple of dimensions, or a dict mapping indices to "
                "dimensions, where each dimension is an int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC)")
        for axis, dim in items:
            if not isinstance(axis, int) or isinstance(axis, bool) or not -tensor.ndim <= axis < tensor.ndim:
                raise IndexError(f"torch.export: got axis {axis!r} at `dynamic_shapes{path}`, expected 0 to "
                                 f"{tensor.ndim - 1}")
            axis %= max(tensor.ndim, 1)
            if isinstance(dim, int) and not isinstance(dim, bool):
                if dim != tensor.shape[axis]:
                    raise _invalid(f"Static shape constraint of {dim} does not match input size of "
                                   f"{tensor.shape[axis]}, for `dynamic_shapes{path}[{axis}]`")
            elif isinstance(dim, (Dim, _DimHint)):
                if not isinstance(dim, _DimHint) or dim.kind != "STATIC":
                    self.found[self.leaf, axis] = dim, int(tensor.shape[axis]), f"{source}.size()[{axis}]"
            elif dim is not None:
                raise _invalid(f"Unexpected dimension mapped to index {axis} in input tensor shape {shape} specified "
                               f"at `dynamic_shapes{path}` ({WOULD_DO},  but got {dim!r} instead)")


def _children(value):
    """Return [(key, child)] of a container, None of a leaf."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple)) and not isinstance(value, Tensor):
        return list(enumerate(value))
    leaves, spec = pytree.tree_flatten(value, is_leaf=lambda item: item is not value)
    if spec.is_leaf() or len(leaves) == 1 and leaves[0] is value:
        return None
    if dataclasses.is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    return list(enumerate(leaves))


def asked_axes(module, args, kwargs, dynamic_shapes):
    """Return the axes whose sizes may vary, with what the user said of them.

    Parameters
    ----------
    module : Module
        What is exported.
    args, kwargs : tuple, dict
        What it is called with.
    dynamic_shapes : Any
        What the user said.

    Returns
    -------
    Dict[Tuple[int, int], Tuple[Any, int, str]]
        {(leaf, axis): (Dim or hint, size, how letters call it)}.

    """
    if isinstance(dynamic_shapes, ShapesCollection) or hasattr(dynamic_shapes, "dynamic_shapes"):
        dynamic_shapes = dynamic_shapes.dynamic_shapes(module, args, kwargs)
    if not dynamic_shapes:
        return {}
    asked = _Asked()
    grouped = _grouped(module.forward, args, kwargs)
    if isinstance(dynamic_shapes, dict):
        if set(dynamic_shapes) != set(grouped):
            keys = list(dynamic_shapes)
            if len(grouped) == 1 and isinstance(next(iter(grouped.values())), (dict, Tensor)):
                keys = list(dynamic_shapes)
            raise _invalid("When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names "
                           f"{list(grouped)} of `inputs`, but here they are {keys}. Alternatively, you could also "
                           "ignore arg names entirely and specify `dynamic_shapes` as a list/tuple matching `inputs`.")
        shapes = [dynamic_shapes[name] for name in grouped]
    elif isinstance(dynamic_shapes, (list, tuple)):
        if len(dynamic_shapes) != len(grouped):
            raise _invalid("Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs` has "
                           f"{len(grouped)} elements, but `dynamic_shapes` has {len(dynamic_shapes)} elements")
        shapes = dynamic_shapes
    else:
        raise _invalid(f"torch.export: got {type(dynamic_shapes).__name__} for dynamic_shapes, expected a dict by "
                       "argument, a list or tuple, or a ShapesCollection")
    for (name, value), shape in zip(grouped.items(), shapes):
        asked.walk(value, shape, f"[{name!r}]", f"L[{name!r}]")
    return asked.found


def symbols_of(asked):
    """Return the axes in terms of symbols.

    Parameters
    ----------
    asked : Dict[Tuple[int, int], tuple]
        From `asked_axes`.

    Returns
    -------
    Tuple[List[Axis], Dict[str, int], Dict[str, ValueRanges], Dict[str, Any]]
        The axes; by symbol what it was, what is allowed, and what the user called it.

    """
    axes, hints, declared, dims, by_name = [], {}, {}, {}, {}
    pending = sorted(asked.items(), key=lambda item: isinstance(item[1][0], _DerivedDim))
    for place, (dim, size, source) in pending:
        if isinstance(dim, _DimHint):
            name = f"s{len(hints)}"
            hints[name], dims[name] = size, dim
            high = OPEN if dim.max is None else dim.max
            declared[name] = ValueRanges(min(2, size) if dim.min is None else dim.min, high)
            axes.append(Axis(place, Expression.symbol(name), size, dim, source))
            continue
        root = dim.root
        name = by_name.get(root.__name__)
        factor, offset = getattr(dim, "factor", 1), getattr(dim, "offset", 0)
        if name is None:
            name = by_name[root.__name__] = f"s{len(hints)}"
            value, rest = divmod(size - offset, factor)
            if rest:
                raise UserError(UserErrorType.CONSTRAINT_VIOLATION, f"Constraints violated ({dim.__name__})! Expected "
                                f"input {source} = {size} to be of the form {dim.__name__}, where {root.__name__} is "
                                "an integer")
            hints[name], dims[name] = value, root
            declared[name] = ValueRanges(*root.range)
        elif root.range != dims[name].range:
            raise UserError(UserErrorType.INVALID_INPUT, f"Found different definitions {dims[name]!r} and {root!r} for "
                            "the same symbolic dimension")
        elif hints[name] * factor + offset != size:
            raise UserError(UserErrorType.CONSTRAINT_VIOLATION, f"Constraints violated ({dim.__name__})! Expected "
                            f"input {source} to be equal to {hints[name] * factor + offset}, but got {size}")
        axes.append(Axis(place, Expression.symbol(name) * factor + offset, size, dim, source))
    for name, hint in hints.items():
        if hint not in declared[name] and not isinstance(dims[name], _DimHint):
            raise UserError(UserErrorType.CONSTRAINT_VIOLATION, f"Constraints violated ({dims[name].__name__})! {hint} "
                            f"not in range [{declared[name].lower}, {declared[name].upper}]")
    axes.sort(key=lambda axis: axis.place)
    return axes, hints, declared, dims


def names_of(module, args, kwargs):
    """Return the names of the arguments of a call."""
    return argument_names(module.forward, args, kwargs)


def shapes_of(program):
    """Return what an exported program's `dynamic_shapes` were, a dim for each size that varies.

    Parameters
    ----------
    program : ExportedProgram
        The program.

    Returns
    -------
    dict
        By argument.

    """
    ranges, known = {str(key): value for key, value in program.range_constraints.items()}, {}

    def dim(size):
        (factors, offset), found = size.expression.linear(), ranges.get(size.expression.symbols()[0])
        (name, factor), = factors.items()
        if name not in known:
            low = None if found is None or found.lower <= 0 else int(found.lower)
            known[name] = Dim(name, min=low, max=None if found is None or found.upper == OPEN else int(found.upper))
        return known[name] if (factor, offset) == (1, 0) else known[name] * factor + offset
    leaves = []
    places = [node for node in program.graph.nodes if node.op == "placeholder"]
    for node, spec in zip(places, program.graph_signature.input_specs):
        if spec.kind is InputKind.USER_INPUT:
            value = node.meta.get("val")
            leaves.append({axis: dim(size) for axis, size in enumerate(value.shape) if isinstance(size, SymInt)}
                          if isinstance(value, Tensor) else None)
    args, kwargs = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
    return dict(zip(program.forward_names, (*args, *kwargs.values())))
