"""Which sizes of a program's inputs may vary, and how they are called."""
import dataclasses
import math

from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.utils import _pytree as pytree


class _DimHint:
    """Whether a size may differ, without a name for it.

    Parameters
    ----------
    kind : str
        "AUTO", "DYNAMIC" or "STATIC".
    min, max : int, optional
        Between which sizes.

    """

    def __init__(self, kind, min=None, max=None):
        self.kind, self.type, self.min, self.max = kind, kind, min, max

    def __call__(self, min=None, max=None):
        if self.kind == "STATIC":
            raise TypeError("'Dim.STATIC' object is not callable")
        for name, value in (("min", min), ("max", max)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise AssertionError(f"Dim.{self.kind}: got {name}={value!r}, expected a size of 0 or more")
        if min is not None and max is not None and min > max:
            raise AssertionError(f"Dim.{self.kind}: got min={min} and max={max}, expected min <= max")
        return _DimHint(self.kind, min, max)

    def __repr__(self):
        return f"DimHint({self.kind})"

    def __eq__(self, other):
        return isinstance(other, _DimHint) and (self.kind, self.min, self.max) == (other.kind, other.min, other.max)

    def __hash__(self):
        return hash((self.kind, self.min, self.max))


DimHint = _DimHint


class Dim:
    """A size known at run time only, by name.

    Parameters
    ----------
    name : str
        What it is called; inputs with a size of the same name have the same size.
    min : Optional[int]
        The smallest size that is allowed; 0 if not given.
    max : Optional[int]
        The largest.

    Examples
    --------
    >>> batch = torch.export.Dim("batch", min=2)
    >>> class Doubled(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x * 2
    >>> program = torch.export.export(Doubled(), (torch.ones(4, 3),), dynamic_shapes=({0: batch},))
    >>> program.range_constraints
    {s0: VR[2, int_oo]}

    """

    AUTO, DYNAMIC, STATIC = _DimHint("AUTO"), _DimHint("DYNAMIC"), _DimHint("STATIC")

    def __init__(self, name, *, min=None, max=None):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"Dim: got name {name!r}, expected an identifier")
        low, high = 0 if min is None else min, math.inf if max is None else max
        if not low < high:
            raise AssertionError(f"Cannot create Dim with inconsistent min={low}, max={high}")
        self.__name__, self.min, self.max = name, min, max

    def __repr__(self):
        bounds = f", min={self.min}" * (self.min is not None) + f", max={self.max}" * (self.max is not None)
        return f"Dim({self.__name__!r}{bounds})"

    root = property(lambda self: self, doc="Dim: the size that this follows, which is itself.")

    def __mul__(self, other):
        return _DerivedDim(self) * other

    def __add__(self, other):
        return _DerivedDim(self) + other

    def __sub__(self, other):
        return _DerivedDim(self) - other

    __rmul__, __radd__ = __mul__, __add__

    @property
    def range(self):
        """Tuple[int, float]: the smallest and the largest size."""
        return (0 if self.min is None else self.min), (math.inf if self.max is None else self.max)


class _StaticDim:
    """A size that is always the same.

    Parameters
    ----------
    value : int
        The size.

    """

    def __init__(self, value):
        self.__name__, self.value = str(value), value


class _DerivedDim(Dim):
    """A size that follows another one: `2 * Dim("past") + 1`.

    Parameters
    ----------
    root : Dim
        The other one.
    factor, offset : int
        How.

    """

    def __init__(self, root, factor=1, offset=0):
        self._root, self.factor, self.offset = root, factor, offset
        text = root.__name__ if factor == 1 else f"{factor}*{root.__name__}"
        self.__name__ = text + (f" {'+-'[offset < 0]} {abs(offset)}" if offset else "")
        low, high = root.range
        self.min = None if root.min is None else low * factor + offset
        self.max = None if root.max is None else high * factor + offset

    root = property(lambda self: self._root, doc="Dim: the size that this follows.")

    def __repr__(self):
        return f"Dim({self.__name__!r})"

    def _check(self, other, least=None):
        if not isinstance(other, int) or isinstance(other, bool) or least is not None and other < least:
            raise NotImplementedError(f"Dim: got {self.__name__} and {other!r}, expected an int"
                                      f"{'' if least is None else ' above 0'}: a size follows one other in a line")

    def __mul__(self, other):
        self._check(other, 1)
        return _DerivedDim(self.root, self.factor * other, self.offset * other)

    def __add__(self, other):
        self._check(other)
        return _DerivedDim(self.root, self.factor, self.offset + other)

    def __sub__(self, other):
        self._check(other)
        return self + -other

    __rmul__, __radd__ = __mul__, __add__

    @property
    def range(self):
        """Tuple[int, float]: the smallest and the largest size."""
        low, high = self.root.range
        return low * self.factor + self.offset, high * self.factor + self.offset


FollowingDim = _DerivedDim


def dims(*names, min=None, max=None):
    """Return a Dim for each name.

    Parameters
    ----------
    *names : str
        The names.
    min, max : int, optional
        Between which sizes all of them are.

    Returns
    -------
    Tuple[Dim, ...]
        The dims.

    """
    return tuple(Dim(name, min=min, max=max) for name in names)


class ShapesCollection:
    """Which sizes vary, told by the tensors themselves.

    Examples
    --------
    >>> x = torch.ones(4, 3)
    >>> shapes = torch.export.ShapesCollection()
    >>> shapes[x] = {0: torch.export.Dim("batch")}
    >>> shapes[x]
    {0: Dim('batch')}

    """

    def __init__(self):
        self._shapes, self._held = {}, []

    def __setitem__(self, t, shape):
        if not isinstance(t, (Tensor, _IntWrapper)):
            raise AssertionError(f"Cannot assign shape to non-tensor or non-_IntWrapper type {type(t)}")
        if id(t) in self._shapes and self._shapes[id(t)] != shape:
            raise AssertionError(f"Shapes assigned to input is a {type(t)} and got two different shapes: "
                                 f"{self._shapes[id(t)]} and {shape}")
        self._shapes[id(t)] = shape
        self._held.append(t)

    def __getitem__(self, t):
        return self._shapes[id(t)] if id(t) in self._shapes else self._shapes.setdefault(id(t), {})

    def __len__(self):
        return len(self._shapes)

    def dynamic_shapes(self, m, args, kwargs=None):
        """Return the `dynamic_shapes` of `export` for arguments.

        Parameters
        ----------
        m : Module
            The module.
        args : tuple
            The positional arguments.
        kwargs : dict, optional
            The arguments by name.

        Returns
        -------
        dict
            By argument.

        """
        from dragon.vm.torch.core.exporting.program_trace import argument_names
        found, kwargs = set(), kwargs or {}

        def look(leaf):
            if id(leaf) in self._shapes:
                found.add(id(leaf))
                return self._shapes[id(leaf)]
            return None
        names = argument_names(m.forward if hasattr(m, "forward") else m, args, kwargs)
        made = {name: pytree.tree_map(look, value) for name, value in zip(names, (*args, *kwargs.values()))}
        if len(found) != len(self._shapes):
            raise ValueError("Some tensors that were assigned shapes were not found in args. Maybe such tensors were "
                             "copied when passing them as args? Maybe such tensors are contained in classes that were "
                             "not registered with pytree?")
        return made


class AdditionalInputs:
    """Which sizes vary, told by further examples: those that differ."""

    def __init__(self):
        self._examples = []

    def add(self, args, kwargs=None):
        """Add a further example of a call."""
        if not isinstance(args, tuple):
            raise AssertionError(f"Representation of args must be a tuple, got {type(args)}")
        self._examples.append((args, kwargs or {}))

    def dynamic_shapes(self, m, args, kwargs=None):
        """Return the `dynamic_shapes` of `export` for arguments: sizes that differ are dynamic."""
        from dragon.vm.torch.core.exporting.program_trace import argument_names
        kwargs = kwargs or {}
        leaves, spec = pytree.tree_flatten((args, kwargs))
        found = [{} for _ in leaves]
        for example in self._examples:
            others, other_spec = pytree.tree_flatten(example)
            if other_spec != spec:
                raise ValueError(f"AdditionalInputs: got a call nested as {other_spec}, expected {spec}")
            for place, (one, other) in enumerate(zip(leaves, others)):
                if isinstance(one, Tensor):
                    if one.ndim != other.ndim:
                        raise ValueError(f"AdditionalInputs: got {other.ndim} axes, expected {one.ndim}")
                    found[place].update({axis: Dim.DYNAMIC for axis in range(one.ndim)
                                         if one.shape[axis] != other.shape[axis]})
        made = [shape if isinstance(leaf, Tensor) else None for leaf, shape in zip(leaves, found)]
        shaped = _nested(made, spec)
        names = argument_names(m.forward if hasattr(m, "forward") else m, args, kwargs)
        return dict(zip(names, (*shaped[0], *shaped[1].values())))

    def verify(self, ep):
        """Call an exported program with all examples."""
        for args, kwargs in self._examples:
            ep.module()(*args, **kwargs)


def _nested(leaves, spec):
    return pytree.tree_unflatten(leaves, spec)


class _IntWrapper:
    """A number among the arguments whose value may vary."""

    def __init__(self, val, dynamism=None):
        self.val, self.dynamism = val, dynamism


@dataclasses.dataclass
class Constraint:
    """A size of an input that the user allowed to vary.

    Parameters
    ----------
    name : str
        Of the symbol.
    root : str
        Of what it follows.
    range : Any
        From where to where.

    """

    name: str
    root: str = ""
    range: object = None


def refine_dynamic_shapes_from_suggested_fixes(msg, dynamic_shapes):
    """Return dynamic shapes with the fixes in them that a letter suggests.

    Parameters
    ----------
    msg : str
        What `export` said.
    dynamic_shapes : Union[dict, tuple, list]
        What it was given.

    Returns
    -------
    Union[dict, tuple, list]
        The same, with other dims.

    """
    import re
    lines = msg.partition("Suggested fixes:")[2].strip().splitlines()
    made, names = {}, {}

    def walk(value):
        if isinstance(value, Dim):
            names[value.root.__name__] = value.root
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
            walk(item)
    walk(dynamic_shapes)
    for line in map(str.strip, lines):
        name, found, text = line.partition(" = ")
        if not found:
            break
        if re.fullmatch(r"\d+", text):
            made[name] = int(text)
        elif text.startswith("Dim("):
            bounds = dict(re.findall(r"(min|max)=(\d+)", text))
            made[name] = names[name] = Dim(name, **{key: int(value) for key, value in bounds.items()})
        else:
            factor, root, sign, offset = re.fullmatch(r"(?:(\d+)\*)?(\w+)(?: ([+-]) (\d+))?", text).groups()
            base = made.get(root) or names[root]
            made[name] = base * int(factor or 1) + int(offset or 0) * (-1 if sign == "-" else 1) if (
                factor or offset) else base

    def changed(value):
        if isinstance(value, _DerivedDim):
            root = made.get(value.root.__name__, value.root)
            return root * value.factor + value.offset
        if isinstance(value, Dim):
            return made.get(value.__name__, value)
        if isinstance(value, dict):
            return {key: changed(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(changed, value))
        return value
    return changed(dynamic_shapes)
