"""Variables that are cut between processes: each holds its part, and they put the parts together to read the whole."""
import math

from dragon import _C
from dragon.core import modes
from dragon.core.scopes import contextmanager
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.scopes import get_stateless_scope, in_symbolic_scope
from dragon.vm.keras.core.variable import Variable, autocasted, numpy_of
from dragon.vm.keras.distribution.grid import Grid
from dragon.vm.shared import strategies
from dragon.vm.shared.recording.gradient import custom_gradient
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import as_tensor, ops

serving = [None]  # while one process writes a file: has the others put a variable's parts together with it


def check_sizes(who, shape, layout):
    """Raise a ValueError where an axis cannot be cut as a layout says.

    Parameters
    ----------
    who : str
        Who asks.
    shape : Sequence[int]
        The shape of what is cut.
    layout : TensorLayout
        How.

    """
    mesh, cuts = layout.device_mesh, [axis for axis in layout.axes if axis is not None]
    if len(layout.axes) > len(shape):
        raise ValueError(f"{who}: got a layout of {len(layout.axes)} axes, {layout.axes}, for a tensor of "
                         f"shape {shape}, expected at most {len(shape)}")
    if len(set(cuts)) < len(cuts):
        raise ValueError(f"{who}: got the layout {layout.axes}, expected each axis of the mesh once")
    for size, axis in zip(shape, layout.axes):
        parts = 1 if axis is None else mesh.shape[list(mesh.axis_names).index(axis)]
        if size % parts:
            raise ValueError(f"{who}: got a tensor of shape {shape} for the layout {layout.axes}, expected "
                             f"a size that is divisible by {parts}, the devices along {axis!r}")


def cut_of(path, shape, layout):
    """Return how a variable is cut between processes; None where each has the whole.

    Parameters
    ----------
    path : str
        The variable's path.
    shape : Sequence[int]
        The shape of the whole.
    layout : TensorLayout
        How it lies over devices.

    """
    if not any(layout.axes):
        return None
    check_sizes(f"variable {path!r}", shape, layout)
    grid = Grid(layout.device_mesh)
    cut = Cut(grid, shape, layout)
    return cut if cut.steps else None


class Cut:
    """How a variable is cut: along which of its axes, and with whom this process has the whole.

    Parameters
    ----------
    grid : Grid
        The processes.
    shape : Sequence[int]
        The shape of the whole.
    layout : TensorLayout
        How it lies over devices.

    """

    def __init__(self, grid, shape, layout):
        self.shape = TensorShape(shape)
        named = {name: axis for axis, name in enumerate(layout.axes) if name is not None and grid.shape[name] > 1}
        self.steps = [(axis, grid.group([name]), grid.place[name]) for name, axis in named.items()]
        # Those that have the same part: they alone have to add up its gradient.
        self._alike = grid.group([name for name in grid.shape if name not in named])
        self._share = 1.0 / math.prod(group.size for _, group, _ in self.steps)

    def part(self, value):
        """Return this process's part of a value."""
        for axis, group, place in self.steps:
            size = int(value.shape[axis]) // group.size
            value = ops.narrow(value, axis, place * size, size)
        return ops.clone(ops.contiguous(value))

    def hold(self, cls, value):
        """Return a variable that holds this process's part of a value; of the class that was asked for."""
        if cls is not Variable:
            raise NotImplementedError(f"keras.Variable: got the class {cls.__name__} for a variable that is cut "
                                      "between processes, expected keras.Variable itself: subclasses are whole in each")
        made = _C.Tensor.__new__(CutVariable, self.part(value))
        made.cut = self
        return made

    def whole(self, part):
        """Return the whole of which each process gives its part; its gradient is added up, and each gets its part."""
        if strategies.local.replica is None and part.requires_grad and modes.is_recording():
            part = _with_share(part, self._share)  # all compute the same, so the sum is to be a mean
        for axis, group, _ in self.steps:
            rows = ops.all_gather(ops.contiguous(ops.movedim(part, axis, 0)), group.number)
            part = ops.contiguous(ops.movedim(rows, 0, axis))
        return as_tensor(part)

    def sum_alike(self, gradient):
        """Return the sum of the gradients of all processes that have the same part."""
        gradient = ops.contiguous(gradient)
        return gradient if self._alike is None else ops.all_reduce(gradient, self._alike.number, "sum")

    def sum_parts(self, number):
        """Return the sum of a number that each process has of its part."""
        for _, group, _ in self.steps:
            number = ops.all_reduce(ops.contiguous(number), group.number, "sum")
        return number


def _with_share(part, share):
    @custom_gradient
    def alike(x):
        return ops.view(x, tuple(x.shape)), lambda gradient: gradient * share
    return alike(as_tensor(part))


class CutVariable(Variable):
    """A variable of which each process holds a part; it is read, written and saved as the whole.

    To read it is something that all processes have to do together. Within `strategies.by_parts`, which is where
    optimizers work, it is its part.
    """

    reads_together = True

    def __new__(cls, *args, **kwargs):
        raise TypeError("CutVariable: got a call, expected keras.Variable, which is cut as the layout says")

    @property
    def shape(self):
        """The whole's shape."""
        return super().shape if strategies.local.by_parts else self.cut.shape

    size = property(lambda self: math.prod(self.shape), doc="How many numbers the whole has.")

    @property
    def value(self):
        """The whole, put together of all processes' parts."""
        if strategies.local.by_parts:
            return super().value
        scope = get_stateless_scope()
        found = None if scope is None else scope.get_current_value(self)
        if found is None or found is self:
            found = self._together()
        return autocasted(self, found)

    def _together(self):
        if serving[0] is not None:
            serving[0](self)
        return self.cut.whole(self)

    def assign(self, value):
        """Give the variable other numbers of the whole's shape; each process keeps its part of them."""
        if strategies.local.by_parts or strategies.joins(self) or get_stateless_scope() is not None:
            return super().assign(value)
        value = convert_to_tensor(value, dtype=self._dtype)
        if tuple(value.shape) != tuple(self.shape) or in_symbolic_scope():
            return super().assign(value)
        with strategies.by_parts():
            super().assign(self.cut.part(value))
        return value

    def __repr__(self):
        if in_symbolic_scope():
            return super().__repr__()
        with strategies.by_parts():  # whoever prints may be alone
            part = numpy_of(self)
        return (f"<Variable path={self._path}, shape={tuple(self.cut.shape)}, dtype={self.dtype}, cut between "
                f"processes, part={part}>")

    __str__ = __repr__

    def _repr_html_(self):
        from dragon.core.pictures.card import draw_card
        return draw_card("keras.Variable", [("shape", tuple(self.cut.shape)), ("dtype", self.dtype),
                                            ("path", self._path), ("cut between processes", "yes")])

    def __reduce__(self):
        make, (_, _, fields) = super().__reduce__()
        fields = {key: value for key, value in fields.items() if key not in ("cut", "_layout")}
        return make, (Variable, self.numpy(), {**fields, "_layout": None})


def _cut_variables(model):
    """Return the variables of a model and of its optimizer that are cut between processes, in an order all agree on."""
    optimizer = getattr(model, "optimizer", None)
    found = {id(variable): variable for holder in (model, optimizer) for variable in getattr(holder, "variables", ())}
    return [variable for variable in found.values() if isinstance(variable, CutVariable)]


def _said_by_first(number, workers):
    return int(workers.of_first(convert_to_tensor([number])).numpy()[0])


@contextmanager
def leading(model, workers):
    """Have this process read a model's variables alone in a `with` block, while the others `follow`."""
    numbers = {id(variable): number for number, variable in enumerate(_cut_variables(model))}

    def ask(variable):
        if id(variable) not in numbers:
            raise NotImplementedError(f"save: got the variable {variable.path!r}, which is cut between processes, "
                                      f"expected those of {type(model).__name__} and of its optimizer alone")
        _said_by_first(numbers[id(variable)], workers)

    before, serving[0] = serving[0], ask
    try:
        yield
    finally:
        serving[0] = before
        if numbers:
            _said_by_first(-1, workers)


def follow(model, workers):
    """Give parts of a model's variables to the first process, whichever it reads, until it has done."""
    variables = _cut_variables(model)
    while variables and (number := _said_by_first(-1, workers)) >= 0:
        with modes.no_grad():
            variables[number].cut.whole(variables[number])
