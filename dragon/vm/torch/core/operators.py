"""Operators that scripts register: their functions by kind of device, and their gradients."""
import functools
import importlib.util
import inspect
import typing

from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.tensor import Tensor

REGISTERED = {}  # "namespace::name" -> Operator
FACES = "dragon.vm"  # a face beside this one registers its operators under its own name
SCALARS = {int: "SymInt", float: "float", bool: "bool", str: "str"}


class Operator:
    """A registered operator; calling it picks the function that fits the arguments.

    Parameters
    ----------
    name : str
        "namespace::name".
    schema : str, optional
        The line that tells its arguments.

    """

    def __init__(self, name, schema=None):
        self.name, self.schema = name, schema
        self.__name__ = self.__qualname__ = name.partition("::")[2]
        self.kernels = {}  # by lower-case kind: "cpu", "cuda", "meta", "autograd", "composite", "any"
        self.backward = self.setup_context = None
        self.signature = None
        self.before = {}  # by kind of device: a function of the operator and a call, which may answer in its place
        self._function = None

    def __repr__(self):
        return f"<operator {self.schema or self.name}>"

    def kernel(self, tensors):
        """Return the function for these tensors' device."""
        kind = tensors[0].device.type if tensors else "cpu"
        found = self.kernels.get(kind) or (None if kind == "meta" else self.kernels.get("any"))
        if found is None:
            raise NotImplementedError(f"Could not run '{self.name}' with arguments from the '{kind.upper()}' backend: "
                                      f"it has functions for {', '.join(self.kernels) or 'nothing'}")
        return found

    def __call__(self, *args, **kwargs):
        for answer in self.before.values():
            result = answer(self, args, kwargs)
            if result is not NotImplemented:
                return result
        straight = self.kernels.get("autograd") or self.kernels.get("composite")
        if straight is not None:  # written in functions that record by themselves
            return straight(*args, **kwargs)
        if not self.kernels:
            self.kernel([])  # raises
        args = self.positional(args, kwargs)
        tensors = [item for value in args for item in (value if isinstance(value, (list, tuple)) else [value])
                   if isinstance(item, Tensor)]
        if self.backward is not None and modes.is_recording() and any(item.requires_grad for item in tensors):
            return self.function().apply(*args)
        with ExitStack() as exits:
            exits.switch(modes.set_recording, False)
            return self.kernel(tensors)(*args)

    def positional(self, args, kwargs):
        """Return the arguments in order, with defaults, for what a function of the autograd engine takes."""
        if self.signature is None:
            function = next(iter(self.kernels.values()))
            self.signature = inspect.signature(function)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return (*bound.args, *bound.kwargs.values()) if not bound.kwargs else tuple(bound.arguments.values())

    def function(self):
        """Return the autograd Function of the operator."""
        if self._function is None:
            from dragon.vm.torch.autograd import Function
            operator = self

            def forward(*args):
                tensors = [value for value in args if isinstance(value, Tensor)]
                return operator.kernel(tensors)(*args)

            def setup_context(ctx, inputs, output):
                if operator.setup_context is not None:
                    operator.setup_context(ctx, inputs, output)

            def backward(ctx, *grads):
                return operator.backward(ctx, *grads)
            self._function = type(self.__name__, (Function,), {
                "forward": staticmethod(forward), "setup_context": staticmethod(setup_context),
                "backward": staticmethod(backward)})
        return self._function


def lookup(name):
    """Return the operator of a full name, or None; a face of Dragon's whose operators it is among is imported."""
    space = name.partition("::")[0]
    if name not in REGISTERED and not any(known.startswith(space + "::") for known in REGISTERED):
        import_operators(space)
    return REGISTERED.get(name)


@functools.cache
def import_operators(space):
    """Import the operators of the face that bears a namespace's name, if there is one."""
    if space.isidentifier() and importlib.util.find_spec(f"{FACES}.{space}") is not None:
        room = f"{FACES}.{space}.ops"
        if importlib.util.find_spec(room) is not None:
            importlib.import_module(room)


def get(name):
    """Return a registered operator, or raise RuntimeError."""
    if isinstance(name, Operator):
        return name
    name = getattr(name, "_qualname", None) or getattr(name, "_qualified_op_name", None) or str(name)
    if lookup(name) is None:
        raise RuntimeError(f"operator {name} does not exist; expected one that define() or custom_op() registered")
    return REGISTERED[name]


def define(name, schema=None):
    """Register an operator by its full name; again, if it is there."""
    space, found, _ = name.partition("::")
    if not found or not space:
        raise ValueError(f"define: got name {name!r}, expected 'namespace::name'")
    operator = REGISTERED.setdefault(name, Operator(name))
    operator.schema = operator.schema or schema
    return operator


def schema_type(annotation):
    """Return how a schema writes a type annotation."""
    if annotation is Tensor:
        return "Tensor"
    if annotation in SCALARS:
        return SCALARS[annotation]
    name = getattr(annotation, "__name__", "")
    if name == "dtype":
        return "ScalarType"
    if name == "device":
        return "Device"
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if type(None) in parts and len(parts) == 2:
        return schema_type(next(part for part in parts if part is not type(None))) + "?"
    if origin is typing.Union or type(annotation).__name__ == "UnionType":
        return "Scalar"
    if origin in (list, tuple) or getattr(origin, "__name__", "") == "Sequence":
        return schema_type(parts[0]) + "[]"
    raise ValueError(f"infer_schema: got the type {annotation!r}, expected tensors, numbers, strings, dtypes, devices, "
                     "optional ones or lists of them")


def infer_schema(prototype_function, /, *, mutates_args=(), op_name=None, tags=()):
    """Return the schema that a function's type annotations tell.

    Parameters
    ----------
    prototype_function : Callable
        A function with annotations.
    mutates_args : Union[str, Sequence[str]], optional
        The arguments that it writes to; "unknown" for any.
    op_name : str, optional
        The name to put in front.
    tags : Union[Tag, Sequence[Tag]], optional
        What else is promised of the operator; the schema does not show it.

    Returns
    -------
    str
        Such as "(Tensor x, float k=2.0) -> Tensor".

    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    parts, marked = [], 0
    for name, parameter in signature.parameters.items():
        if name not in hints:
            raise ValueError(f"infer_schema: got no type for parameter {name}, expected an annotation")
        kind = schema_type(hints[name])
        if name in mutates_args or (mutates_args == "unknown" and kind.startswith("Tensor")):
            kind = kind.replace("Tensor", f"Tensor(a{marked}!)", 1)
            marked += 1
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        default = parameter.default
        shown = f'"{default}"' if isinstance(default, str) else default
        parts.append(f"{kind} {name}" + ("" if default is parameter.empty else f"={shown}"))
    result = hints.get("return", type(None))
    if result is type(None):
        told = "()"
    elif typing.get_origin(result) is tuple:
        told = f"({', '.join(map(schema_type, typing.get_args(result)))})"
    else:
        told = schema_type(result)
    return f"{op_name or ''}({', '.join(parts)}) -> {told}"
