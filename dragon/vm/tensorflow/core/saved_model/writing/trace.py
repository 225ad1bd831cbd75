"""A trace of a function that is written: what it takes, returns, reads and sets, as nodes."""
import re

from dragon import _C
from dragon.core.capture.export import is_idle
from dragon.core.capture.host_calls import free_sizes, noting
from dragon.core.capture.settings import every_loop
from dragon.core.capture.shape_inference import numbers_of_axes
from dragon.core.graph import Graph
from dragon.onnx.errors import ExportError
from dragon.vm.shared.errors import InvalidArgumentError, UnimplementedError
from dragon.vm.shared.recording.concrete import quiet
from dragon.vm.shared.ragged.tensor import RaggedTensorSpec
from dragon.vm.shared.tensors import variable
from dragon.vm.shared.tensors.dtypes import string
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import Tensor, ops
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.shared.written.nodes import stand_in_of, wrap
from dragon.vm.shared.written.ragged import WrittenRagged
from dragon.vm.tensorflow.core.saved_model import structures
from dragon.vm.tensorflow.core.saved_model.writing import (  # noqa: F401: they enter themselves into the table
    arrays, effects, images, layers, random, recurrent)
from dragon.vm.tensorflow.core.saved_model.writing.translation import translate

EXAMPLE = 3  # what stands for a size that is known at run time only
EVEN = 12  # the same where a function takes no such size, since it cuts an axis into parts
REFUSALS = (_C.EngineError, InvalidArgumentError, ValueError, ExportError)  # of sizes that a function does not take
RESULTS = (_C.Tensor, StringTensor, WrittenRagged)
RANKS = (2, 0, 1)  # what stands for a number of axes that is known at run time only


class SavedTrace:
    """A trace that is written.

    Parameters
    ----------
    name : str
        Its name in the file.
    function : Callable
        What is captured, of tensors in the order of their specs.
    args, kwargs : Any
        Specs of the arguments, and Python values.
    weights : Dict[str, Variable]
        The variables that it may read and write.

    """

    def __init__(self, name, function, args, kwargs, weights):
        self.name, self.args, self.kwargs = name, tuple(args), dict(kwargs)
        self._function, self._weights = function, weights
        self.specs = [leaf for leaf in structures.leaves((self.args, self.kwargs)) if isinstance(leaf, TensorSpec)]
        self._structure, self._rank, self._count, self._written, self._notes = None, RANKS[0], 0, [], []
        # What stands for sizes that are not known, but for axes that must have a number.
        self._example, self._bound = EXAMPLE, {}
        self._free = 0  # how many sizes there are that numbers decide
        made = self._translate(name, weights)
        self.definitions, self.variables = made.definitions, [weights[one] for one in made.taken]
        self.tables = made.tables
        self.outputs = self._describe(made.dtypes)

    definition = property(lambda self: self.definitions[0], doc="FunctionDef: the function.")

    def state_dict(self, **options):
        """Return the variables by their names."""
        return {name: _C.as_class(variable, Tensor) for name, variable in self._weights.items()}

    def __call__(self, *tensors):
        given = [wrap(tensor, spec.dtype) for spec, tensor in zip(self.specs, tensors)]
        args, kwargs = fill((self.args, self.kwargs), iter(given))
        sizes = [tensor.shape[0] for tensor in tensors[len(given):]]
        with quiet(), every_loop(), noting() as self._notes, free_sizes(sizes) as asked:
            self._structure = self._function(*args, **kwargs)
            found = [part for one in structures.leaves(self._structure) if isinstance(one, RESULTS)
                     for part in _parts_of(one)]
        self._free, self._count = len(asked), len(found)
        found += [_C.as_class(self._weights[one], Tensor) for one in self._written]  # what they have been set to
        return tuple(found or [ops.zeros((), dtype="float32")])  # models of ONNX return something

    def _translate(self, name, weights):
        """Return the nodes; where a rank is not known, those that are the same for all ranks."""
        first = self._translate_for_rank(name, weights)
        if all(spec.shape.rank is not None for spec in self.specs):
            return first
        for self._rank in RANKS[1:]:
            other = self._translate_for_rank(name, weights)
            if _texts(other) != _texts(first):
                raise UnimplementedError(
                    None, None, f"saved_model.save: function '{name}' takes tensors of an unknown number of axes, and "
                    "does something else for each number; give it specs that tell the shapes")
        return first

    def _translate_for_rank(self, name, weights):
        with noting():
            model = self._capture()
        texts = [f"input_{place}" for place, spec in enumerate(self.specs) if spec.dtype is string]
        free = [f"free_{place}" for place in range(self._free)]
        return translate(model, name, weights, self._count, self._written, self._notes, texts, free)

    def _shape_of(self, spec):
        return [None] * self._rank if spec.shape.rank is None else list(spec.shape)

    def _examples(self, unknown):
        given = [ops.zeros(tuple(self._bound.get((place, axis), unknown) if size is None else size
                                 for axis, size in enumerate(self._shape_of(spec))),
                           dtype="int64" if spec.dtype is string else spec.dtype)
                 for place, spec in enumerate(self.specs)]
        return (*given, *(ops.zeros((unknown + 2 + place,), dtype="bool") for place in range(self._free)))

    def _capture(self):
        """Return the function as nodes of ONNX, whose last results are the variables that it writes."""
        first = {(place, axis): "batch" if axis == 0 else f"input_{place}_{axis}"
                 for place, spec in enumerate(self.specs)
                 for axis, size in enumerate(self._shape_of(spec)) if size is None}
        self._example, self._bound = EXAMPLE, {}
        try:
            return self._capture_with(first)
        except REFUSALS as error:
            found = self._find_sizes(list(first))
            if found is None:
                raise
            self._example, self._bound, names = found
            if (self._example, names) == (EXAMPLE, first):
                raise error
        return self._capture_with(names)

    def _capture_with(self, names):
        """Return the nodes, where axes of one name have one size, whatever it is.

        Parameters
        ----------
        names : Dict[Tuple[int, int], str]
            By (tensor, axis).

        """
        from dragon.onnx import export
        self._written = self._find_written(self._examples(self._example))
        examples, axes = self._examples(self._example), {}
        for (place, axis), name in names.items():
            axes.setdefault(f"input_{place}", {})[axis] = name
        axes.update((f"free_{place}", {0: f"free_{place}"}) for place in range(self._free))
        given = [f"input_{place}" for place in range(len(self.specs))]
        return export(self, examples, input_names=given + [f"free_{place}" for place in range(self._free)], opset=18,
                      dynamic_axes=axes)

    def _find_sizes(self, axes):
        """Return (an example of sizes, the numbers that some axes have, names for the others), or None.

        The function is asked for its shapes at several sizes: an axis that must have a number, as in a sum of shapes
        (None,) and (5,), is known to have it; axes that only change together have one name.
        """
        from dragon.onnx.capture import trace
        shapes = [tuple(self._shape_of(spec)) for spec in self.specs]

        def call(sizes):
            if any(0 in shape for shape in sizes):
                raise ValueError("an axis of nothing tells nothing of others")
            given = [_C.phantom_like(ops.zeros((), dtype="int64" if spec.dtype is string else spec.dtype), shape)
                     for spec, shape in zip(self.specs, sizes)]
            free = [_C.phantom_like(ops.zeros((), dtype="bool"), (EVEN + 2 + place,)) for place in range(self._free)]
            with noting():
                trace(self, (*given, *free), {})

        def takes(changed):
            sizes = {axis: EVEN for axis in axes} | bound | changed
            try:
                call([tuple(sizes.get((place, axis), size) for axis, size in enumerate(shape))
                      for place, shape in enumerate(shapes)])
            except REFUSALS as error:
                told.append(str(error))
                return False
            return True
        bound, told = numbers_of_axes(call, shapes), []
        if not takes({}):  # as a product of sizes that is cut into rows
            numbers = dict.fromkeys(int(one) for one in re.findall(r"\b[1-9]\d{0,8}\b", told[0]))
            bound = next(({axis: number} for number in numbers for axis in axes if takes({axis: number})), None)
            if bound is None:
                return None
        # Where twice the number will do as well, it is a divisor that was named.
        fixed = {axis: number for axis, number in bound.items() if not takes({axis: 2 * number})}
        names = {}
        for axis in [axis for axis in axes if axis not in fixed]:
            other = {axis: 2 * bound.get(axis, EVEN)}
            alike = [] if takes(other) else [one for one in names if takes({**other, one: 2 * bound.get(one, EVEN)})]
            names[axis] = names[alike[0]] if alike else f"input_{axis[0]}_{axis[1]}"
        return EVEN, bound, names

    def _find_written(self, examples):
        """Return the names of the variables that a call sets, or refuse variables that nothing saved owns."""
        from dragon.onnx.capture import address_of, names_of, trace
        self._written = []
        captured = trace(self, examples, {})
        graph, names, found = Graph(captured.graph), names_of(self), []
        living = {address_of(_C.as_class(one, Tensor)): one for one in variable.living_variables()}
        for source, tensor in captured.inputs:
            owner = living.get(address_of(tensor)) if source == "outside" and _C.Tensor.size.__get__(tensor) else None
            if owner is not None and address_of(tensor) not in names:
                raise AssertionError(
                    f"Tried to export a function which references an 'untracked' resource: function '{self.name}' "
                    f"reads or writes {owner!r}, which is no part of what is saved. Keep it as an attribute of the "
                    "object that is saved, or of one of its parts")
        for place, value in graph.updates:
            if is_idle(graph, value):
                continue
            _, tensor = captured.inputs[place]
            if address_of(tensor) not in names:
                raise UnimplementedError(
                    None, None, f"saved_model.save: function '{self.name}' writes a tensor of shape "
                    f"{tuple(tensor.shape)} that is no variable of what is saved: keep it as an attribute")
            found.append(names[address_of(tensor)])
        return found

    def _describe(self, dtypes):
        """Return specs of the results, whose sizes are those of two calls where they agree."""
        if any(spec.shape.rank is None for spec in self.specs):
            shapes = [None] * len(dtypes)
        else:
            others = (EXAMPLE, 2 * EXAMPLE + 1) if self._example == EXAMPLE else (EVEN, 2 * EVEN)
            pairs = zip(*map(self._result_shapes, others))
            shapes = [[one if one == other else None for one, other in zip(*pair)] for pair in pairs]
        specs, made = iter([TensorSpec(shape, dtype) for shape, dtype in zip(shapes, dtypes)]), []
        for one in structures.leaves(self._structure):
            if isinstance(one, WrittenRagged):
                values, splits = next(specs), next(specs)
                rows = None if splits.shape[0] is None else splits.shape[0] - 1
                made.append(RaggedTensorSpec([rows, None, *values.shape[1:]], values.dtype, 1, splits.dtype))
            elif isinstance(one, RESULTS):
                made.append(next(specs))
        return fill(self._structure, iter(made), RESULTS)

    def _result_shapes(self, unknown):
        from dragon.onnx.capture import trace
        with noting():
            captured = trace(self, self._examples(unknown), {})
        graph = Graph(captured.graph)  # of a trace: there numbers decide nothing
        return [tuple(graph.value(value).shape) for value in graph.outputs[:self._count]]


def _parts_of(value):
    """Return the tensors of the engine that stand for a result."""
    if isinstance(value, WrittenRagged):
        return [stand_in_of(value.flat_values), value.row_splits]
    return [stand_in_of(value)]


def _texts(translated):
    return [one.SerializeToString() for one in translated.definitions]


def fill(structure, values, kind=TensorSpec):
    """Return a structure with values in the place of specs or tensors, dictionaries in the order of their keys."""
    if isinstance(structure, dict):
        found = {key: fill(structure[key], values, kind) for key in sorted(structure)}
        return {key: found[key] for key in structure}
    if isinstance(structure, (list, tuple)):
        made = [fill(one, values, kind) for one in structure]
        return type(structure)(*made) if hasattr(structure, "_fields") else type(structure)(made)
    return next(values) if isinstance(structure, kind) else structure
