"""`ConcreteFunction`: a function for arguments of one kind, what it reads, and what it is called with."""
import inspect

from dragon import _C
from dragon.core.capture.export import sketching
from dragon.core.capture.guards import Guards
from dragon.core.capture.host_calls import noting
from dragon.core.capture.suppress_output import SuppressOutput
from dragon.core.capture.rollback import Rollback
from dragon.core.capture.shape_inference import infer_shapes
from dragon.core.modes import shapes_only
from dragon.core.scopes import contextmanager
from dragon.vm.shared import nest
from dragon.vm.shared.arrays.creation import constant
from dragon.vm.shared.errors import InvalidArgumentError, OpError
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.recording.signatures import (many_lines, named, one_line, result_of, slots, spec_of, specs_in,
                                                   type_text)
from dragon.vm.shared.tensors import variable
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import Tensor
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec

RANKS = ((3, 3), (3,), ())  # what stands for a shape of which not even the number of sizes is known

drawers = {}  # "graph": what makes the graph of a concrete function; the room that knows TensorFlow's nodes enters it


@contextmanager
def quiet():
    """Drop for a `with` block what Python prints: it was printed when the function was called, or will be."""
    with SuppressOutput([]):
        yield


@known_as("tensorflow.types.experimental")
class ConcreteFunction:
    """A function for arguments of one kind; see `Function.get_concrete_function`.

    Parameters
    ----------
    function : Function
        What is called.
    args, kwargs : Any
        Specs of tensors, and Python values.

    """

    def __init__(self, function, args, kwargs):
        if not hasattr(function, "name") or not isinstance(args, (list, tuple)):
            raise TypeError(f"ConcreteFunction: got {function!r}, expected what `tf.function` made; call its "
                            "get_concrete_function")
        self._function, self._args, self._kwargs = function, args, kwargs
        self.name = self.__name__ = function.name
        self._slots = slots(function.python_function, args, kwargs)
        self._outputs = self._read = self._graph = None

    # --- calls

    def __call__(self, *args, **kwargs):
        try:
            values = self._by_parameter(args, kwargs)
        except TypeError as error:
            values = self._by_tensor(args, kwargs, error)
        count = len(self._args)
        by_name = {name: value for (name, _, _), value in zip(self._slots[count:], values[count:])}
        return self._function(*values[:count], **by_name)

    def _by_parameter(self, args, kwargs):
        """Return the arguments of a call as the Python function has them; constants must be what they are here."""
        parameters = [inspect.Parameter(name, kind) for name, kind, _ in self._slots]
        bound = inspect.Signature(parameters).bind(*args, **kwargs).arguments
        return [self._cast(slot, bound[name]) for name, _, slot in self._slots]

    def _cast(self, slot, value):
        if not nest.is_nested(slot):
            return self._cast_one(slot, value)
        try:
            return nest.map_structure(self._cast_one, slot, value)
        except ValueError:
            raise TypeError(f"Can not cast {value!r} to {type_text(slot)}") from None

    def _cast_one(self, slot, value):
        if isinstance(slot, TensorSpec):
            value = value if isinstance(value, _C.Tensor) else convert_to_tensor(value, slot.dtype)
            if not slot.is_compatible_with(value):
                raise TypeError(f"Can not cast {spec_of(value)} to {slot}")
        elif isinstance(slot, TypeSpec):
            if not slot.is_compatible_with(value):
                raise TypeError(f"Can not cast {value!r} to {slot}")
        elif value is not slot and not (type(value) is type(slot) and value == slot):
            raise TypeError(f"Can not cast {value!r} to {type_text(slot)}")
        return value

    def _by_tensor(self, args, kwargs, because):
        """Return the arguments of a call that gives tensors alone, by their specs' names or in order."""
        specs = specs_in(self.structured_input_signature)
        names = [spec.name for spec in specs]
        given = dict(zip(names, args))
        missing, unknown = [one for one in names if one not in {**given, **kwargs}], sorted(set(kwargs) - set(names))
        twice = sorted(set(given) & set(kwargs))
        second = (f"takes {len(names)} positional arguments, got {len(args)}" if len(args) > len(names) else
                  f"missing required arguments: {', '.join(missing)}" if missing else
                  f"got unexpected keyword arguments: {', '.join(unknown)}" if unknown else
                  f"got two values for {', '.join(twice)}" if twice else None)
        given.update(kwargs)
        if second is None:
            second = next((f"expected argument '{one}' to be a Tensor; got {type(given[one]).__name__} ({given[one]!r})"
                           for one in names if not isinstance(given[one], _C.Tensor)), None)
        if second is not None:
            raise TypeError(f"Binding inputs to tf.function failed due to `{because}`. Received args: {args} and "
                            f"kwargs: {kwargs} for signature: {self.pretty_printed_signature(False)}.\nFallback to "
                            f"flat signature also failed due to: {self.name}({', '.join(names)}) {second}.") from None
        for place, (spec, one) in enumerate(zip(specs, names)):
            if given[one].dtype != spec.dtype:
                raise InvalidArgumentError(
                    None, None, f"cannot compute {self.name} as input #{place}(zero-based) was expected to be a "
                    f"{spec.dtype.name} tensor but is a {given[one].dtype.name} tensor")
            if not spec.is_compatible_with(given[one]):
                raise TypeError(f"{self.name}: got {spec_of(given[one])}, expected {spec}")
        left = iter([given[one] for one in names])
        return [nest.map_structure(lambda spec: next(left) if isinstance(spec, TensorSpec) else spec, slot)
                for _, _, slot in self._slots]

    # --- what it takes, reads and returns

    function_type = property(lambda self: inspect.signature(self._function.python_function),
                             doc="inspect.Signature: the parameters.")

    @property
    def structured_input_signature(self):
        """Tuple[tuple, dict]: the arguments, of tensors specs with names."""
        values = [named(name, slot) for name, _, slot in self._slots]
        count = len(self._args)
        return tuple(values[:count]), {name: value for (name, _, _), value in zip(self._slots[count:], values[count:])}

    @property
    def inputs(self):
        """List[TensorSpec]: specs of the tensors among the arguments."""
        return specs_in(self.structured_input_signature)

    @property
    def structured_outputs(self):
        """Any: specs of what is returned."""
        if self._outputs is None:
            self._outputs = self._infer()
        return self._outputs

    @property
    def outputs(self):
        """List[TensorSpec]: specs of the tensors that are returned."""
        return specs_in(self.structured_outputs)

    output_shapes = property(lambda self: nest.map_structure(lambda spec: spec.shape, self.structured_outputs),
                             doc="Any: shapes of what is returned.")
    output_dtypes = property(lambda self: nest.map_structure(lambda spec: spec.dtype, self.structured_outputs),
                             doc="Any: dtypes of what is returned.")

    @property
    def variables(self):
        """Tuple[Variable, ...]: what is read, in order."""
        if self._read is None:
            self._read = self._find_variables()
        return self._read

    @property
    def trainable_variables(self):
        """Tuple[Variable, ...]: those that tapes watch by themselves."""
        return tuple(one for one in self.variables if one.trainable)

    captured_inputs = property(lambda self: list(self.variables), doc="List[Variable]: what is read, in order.")

    @property
    def graph(self):
        """FuncGraph: the function as TensorFlow's operations."""
        if self._graph is None:
            if "graph" not in drawers:
                raise AttributeError(f"{self.name}.graph: got a program of Keras alone, expected one that says "
                                     "`import tensorflow`")
            self._graph = drawers["graph"](self)
        return self._graph

    function_def = property(lambda self: self.graph.function_def, doc="FunctionDef: the function as a message.")

    inference_fn = property(lambda self: self, doc="ConcreteFunction: the function without gradients; itself.")

    def traced(self, *tensors):
        """Return what the Python function returns for tensors in the order of `inputs`, as it is traced."""
        left = iter(tensors)
        args, kwargs = nest.map_structure(lambda value: next(left) if isinstance(value, TensorSpec) else value,
                                          (tuple(self._args), dict(self._kwargs)))
        return nest.map_structure(result_of, self._function.traced_as((self._args, self._kwargs), args, kwargs))

    def trace(self):
        """Call the Python function, as TensorFlow does when a function is asked for, unless it looks at numbers."""
        try:
            self._outputs = self._infer()
        except (_C.EngineError, _C.Unsupported):
            self._outputs = None
        except OpError:  # an empty text, which stands for others, is the name of no file and holds no picture
            if not any(spec.dtype.name == "string" for spec in self.inputs):
                raise

    def examples(self, size=3):
        """Return tensors of zeros such as the function takes, with a size in the place of those that are open."""
        return [constant("" if spec.dtype.name == "string" else 0, spec.dtype, () if spec.shape.rank is None else
                         tuple(size if one is None else one for one in spec.shape)) for spec in self.inputs]

    def _find_variables(self):
        from dragon.onnx.capture import address_of, trace
        known = {address_of(_C.as_class(one, Tensor)): one for one in variable.living_variables()}

        def call(*tensors):
            found = [one for one in nest.flatten(self.traced(*tensors)) if isinstance(one, _C.Tensor)]
            return found or [constant(0)]  # a function of texts, or one that only prints
        with quiet(), noting():
            captured = trace(call, tuple(self.examples()), {})
        found = [known.get(address_of(tensor)) for source, tensor in captured.inputs if source == "outside"]
        return tuple(one for one in found if one is not None)

    def _infer(self):
        """Return specs of what the function returns, found out over tensors without numbers."""
        if any(spec.dtype.name == "string" for spec in self.inputs):
            return self._infer_by_examples()
        if all(spec.shape.rank is not None for spec in self.inputs):
            return self._infer_for([tuple(spec.shape) for spec in self.inputs])
        found, last = [], None
        for shape in RANKS:
            try:
                found.append(self._infer_for([shape if spec.shape.rank is None else tuple(spec.shape)
                                              for spec in self.inputs]))
            except (TypeError, ValueError, InvalidArgumentError, _C.EngineError) as error:  # not of this rank
                last = error
        if not found:
            raise last
        return nest.map_structure(
            lambda spec, *others: TensorSpec(spec.shape if len(found) == len(RANKS) and all(
                spec == other for other in others) else None, spec.dtype)
            if isinstance(spec, TensorSpec) else spec, *found)

    def _infer_by_examples(self):
        """Return specs of what a function of strings returns: those have no shapes without texts."""
        found = []
        for size in (2, 3):
            with variable.inferring.set():
                found.append(nest.map_structure(spec_of, self.traced(*self.examples(size))))
        return nest.map_structure(
            lambda one, other: TensorSpec([size if size == another else None for size, another in
                                           zip(one.shape, other.shape)], one.dtype)
            if isinstance(one, TensorSpec) else one, *found)

    @contextmanager
    def _on_trial(self):
        """Have a `with` block that looks at numbers leave no trace in Python: it has said and changed nothing."""
        guards, said = Guards(self._function.python_function, (), {}), []
        try:
            with SuppressOutput(said):
                yield
        except _C.Unsupported:
            Rollback(guards, guards.changes()).undo()
            raise
        print(*said, sep="", end="")

    def _infer_for(self, given):
        from dragon.vm.shared.tensors.tensor import ops
        dtypes = [spec.dtype for spec in self.inputs]

        def call(shapes):
            tensors = [_C.phantom_like(ops.zeros((), dtype=dtype), shape) for dtype, shape in zip(dtypes, shapes)]
            with variable.inferring.set(), shapes_only():
                try:
                    with self._on_trial():
                        return nest.map_structure(spec_of, self.traced(*tensors))
                except _C.Unsupported:  # a branch or loop, say: as a graph, whose numbers nobody looks at
                    with sketching(tensors):
                        return nest.map_structure(spec_of, self.traced(*tensors))
        specs, shapes = infer_shapes(call, given, lambda found: [tuple(spec.shape) for spec in specs_in(found)])
        left = iter(shapes)
        return nest.map_structure(
            lambda spec: TensorSpec(next(left), spec.dtype) if isinstance(spec, TensorSpec) else spec, specs)

    # --- text

    def pretty_printed_signature(self, verbose=True):
        """Return what the function takes, returns and reads as text.

        Parameters
        ----------
        verbose : bool, optional, default=True
            Whether each parameter has a line of its own.

        Returns
        -------
        str
            The text.

        """
        if not verbose:
            return one_line(self._slots, self.structured_outputs)
        return many_lines(self._slots, self.structured_outputs, self.variables)

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self):
        return f"<ConcreteFunction {self.pretty_printed_signature(False)} at 0x{id(self):X}>"
