"""What a function takes and returns: specs in the place of tensors, by position and name, and as text."""
import inspect

from dragon import _C
from dragon.vm.shared import nest
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import Base, Tensor
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec


def spec_of(value):
    """Return the spec of an argument that is a tensor; other values stand for themselves."""
    if isinstance(value, (TypeSpec, Base)):
        return value if not type(value) is Tensor else TensorSpec(value.shape, value.dtype)
    if isinstance(value, (_C.Tensor, Tensor)) or type(value).__module__ == "numpy":
        return TensorSpec(tuple(value.shape), value.dtype)
    return value


def result_of(value):
    """Return what a graph returns in place of a Python value."""
    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, (Base, _C.Tensor, bool, int, float, complex, str, bytes)) or type(value).__module__ == "numpy":
        return convert_to_tensor(value)
    return value


def specs_in(structure):
    """Return the specs of tensors in a structure, in order."""
    return [spec for spec in nest.flatten(structure) if isinstance(spec, TensorSpec)]


def canonical(function, args, kwargs):
    """Return arguments by position, but for those that only their names tell, defaults among them."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):  # the function itself says what it misses
        return tuple(args), dict(kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def slots(function, args, kwargs):
    """Return (name, kind of parameter, argument) of each argument."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    rest = next((one.name for one in parameters if one.kind is one.VAR_POSITIONAL), "args")
    kind = inspect.Parameter
    found = [(positional[place].name if place < len(positional) else f"{rest}_{place - len(positional)}",
              positional[place].kind if place < len(positional) else kind.POSITIONAL_ONLY, value)
             for place, value in enumerate(args)]
    return found + [(name, kind.KEYWORD_ONLY, value) for name, value in kwargs.items()]


def named(name, structure):
    """Return an argument whose specs all have names: their own, or the parameter's with a number."""
    def name_one(spec):
        place = next(count)
        if not isinstance(spec, TensorSpec) or spec.name:
            return spec
        return TensorSpec(spec.shape, spec.dtype, name if place == 0 else f"{name}_{place}")
    count = iter(range(len(nest.flatten(structure)) + 1))
    return nest.map_structure(name_one, structure)


def type_text(value):
    """Return how signatures tell of an argument or result."""
    if isinstance(value, dict):
        return f"Dict[{', '.join(f'[{key!r}, {type_text(one)}]' for key, one in value.items())}]"
    if isinstance(value, (list, tuple)):
        return f"{'List' if isinstance(value, list) else 'Tuple'}[{', '.join(map(type_text, value))}]"
    if isinstance(value, (TypeSpec, Base)):
        return repr(value)
    return f"Literal[{value!r}]"


def one_line(found, outputs):
    """Return a signature in a line; `found` is what `slots` returns."""
    parts, is_open = [], True
    for name, kind, value in found:
        if kind is inspect.Parameter.KEYWORD_ONLY and is_open:
            parts.append("*")
            is_open = False
        parts.append(f"{name}: {type_text(value)}")
    return f"({', '.join(parts)}) -> {type_text(outputs)}"


def many_lines(found, outputs, captures):
    """Return a signature of which each parameter has a line."""
    lines = ["Input Parameters:", *(f"  {name} ({kind.name}): {type_text(value)}" for name, kind, value in found)]
    lines += [] if found else ["  None"]
    lines += ["Output Type:", f"  {type_text(outputs)}", "Captures:"]
    lines += [f"  {id(one)}: TensorSpec(shape=(), dtype=tf.resource, name=None)" for one in captures] or ["  None"]
    return "\n".join(lines)
