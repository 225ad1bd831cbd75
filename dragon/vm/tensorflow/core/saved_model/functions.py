"""Functions of a file as Python's: traces that are chosen by the arguments, and those of signatures."""
from dragon.core.capture.rules import Rules
from dragon.vm.shared.errors import DataLossError
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.tensorflow.core.saved_model import structures
from dragon.vm.tensorflow.core.saved_model.values import Host, tensor

LONGEST = 300  # of an argument in an error


class Trace:
    """One trace of a function: a body, and what it reads besides its arguments.

    Parameters
    ----------
    find : Callable
        Returns the body.
    described : SavedConcreteFunction
        What the file tells of the trace.
    captured : Callable
        Returns the value of an object by its number.

    """

    def __init__(self, name, find, described, captured):
        self.name, self._find, self._captured = name, find, captured
        self.bound, self.read = list(described.bound_inputs), []  # numbers of objects, and the variables among them
        arguments = structures.decode(described.canonicalized_input_signature)
        if not isinstance(arguments, tuple) or [type(part) for part in arguments] != [tuple, dict]:
            raise DataLossError(None, None, f"{name}: got a signature {arguments!r}, expected (arguments, by name)")
        self.args, self.kwargs = arguments
        self.outputs = structures.decode(described.output_signature)

    def run(self, operands):
        """Return the structure of results for the tensors among the arguments."""
        body = self._find()
        results = body(*operands, *[self._captured(number) for number in self.bound])
        results = [tensor(result) if type(result) is Host else result for result in results]
        wanted = sum(structures.count_parts(spec) for spec in structures.leaves(self.outputs)
                     if structures.is_spec(spec))
        if len(results) < wanted:
            raise DataLossError(None, None, f"{self.name}: got {len(results)} results, expected {wanted}")
        return structures.pack(self.outputs, iter(results))

    def unknown(self):
        """Return (operator, node, function) of what is not known here."""
        return self._find().unknown()


# Graphs watch the variables of a trace; its nodes are what they are.
Rules.never[Trace] = frozenset(("_find", "_captured"))


class _Called:
    """What functions and traces of a file have in common."""

    variables = property(lambda self: tuple(self._variables()), doc="Tuple[Variable, ...]: what is read.")
    trainable_variables = property(lambda self: tuple(one for one in self._variables() if one.trainable),
                                   doc="Tuple[Variable, ...]: those that tapes watch by themselves.")


@known_as("tensorflow.types.experimental")
class RestoredConcreteFunction(_Called):
    """A trace of a file, as signatures are.

    Parameters
    ----------
    trace : Trace
        What runs.
    keywords : Sequence[str]
        The arguments' names.
    positional : int
        How many of them may be given without their names.

    """

    def __init__(self, trace, keywords, positional):
        self._trace, self._keywords, self._positional = trace, list(keywords), positional
        self.name = self.__name__ = trace.name

    def _flat_specs(self):
        return [spec for spec in structures.leaves((self._trace.args, self._trace.kwargs)) if structures.is_spec(spec)]

    def _names(self):
        """Return the name of each tensor among the arguments, in TensorFlow's order."""
        trace = self._trace
        if not trace.args and set(trace.kwargs) <= set(self._keywords):
            return sorted(trace.kwargs)
        return self._keywords or [spec.name for spec in self._flat_specs()]

    def __call__(self, *args, **kwargs):
        specs, names = self._flat_specs(), self._names()
        if len(args) > max(self._positional, 0) and not (len(args) == len(specs) and self._positional == len(specs)):
            raise TypeError(f"{self.name}: got {len(args)} arguments by position, expected {self._positional} at most; "
                            f"name them: {', '.join(map(str, names))}")
        given = dict(zip(self._keywords or names, args))
        twice = set(given) & set(kwargs)
        if twice:
            raise TypeError(f"{self.name}: got several values for '{min(twice)}', expected one")
        given.update(kwargs)
        missing, unknown = [name for name in names if name not in given], [key for key in given if key not in names]
        if missing or unknown:
            raise TypeError(f"{self.name}: got {sorted(given)}, expected {names}; missing are {missing}, unknown are "
                            f"{unknown}")
        operands = []
        for spec, name in zip(specs, names):
            found = []
            if not structures.fit(spec, given[name], True, found):
                raise TypeError(f"{self.name}: got {_short(given[name])} for '{name}', expected {spec}")
            operands += found
        return self._trace.run(operands)

    structured_input_signature = property(lambda self: (self._trace.args, self._trace.kwargs),
                                          doc="Tuple[tuple, dict]: specs of the arguments.")
    structured_outputs = property(lambda self: self._trace.outputs, doc="Any: specs of what is returned.")
    inputs = property(lambda self: self._flat_specs(), doc="List[TensorSpec]: specs of the tensors that are taken.")

    @property
    def outputs(self):
        """List[TensorSpec]: specs of the tensors that are returned."""
        return [spec for spec in structures.leaves(self._trace.outputs) if structures.is_spec(spec)]

    def unknown_operators(self):
        """Return (operator, node, function) of all that Dragon has no operator for; a call would refuse the first."""
        return self._trace.unknown()

    output_shapes = property(lambda self: _map(lambda spec: spec.shape, self._trace.outputs),
                             doc="Any: shapes of what is returned.")
    output_dtypes = property(lambda self: _map(lambda spec: spec.dtype, self._trace.outputs),
                             doc="Any: dtypes of what is returned.")

    def _variables(self):
        return self._trace.read

    def __repr__(self):
        return (f"<ConcreteFunction {self.name}: {self._trace.args}, {self._trace.kwargs} -> "
                f"{self._trace.outputs}>")


def _map(function, structure):
    if isinstance(structure, dict):
        return {key: _map(function, value) for key, value in structure.items()}
    if isinstance(structure, (list, tuple)):
        return type(structure)(_map(function, value) for value in structure)
    return function(structure) if isinstance(structure, TensorSpec) else structure


def _short(value):
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    text = f"Tensor(shape={tuple(shape)}, dtype={getattr(dtype, 'name', dtype)})" if shape is not None else repr(value)
    return text if len(text) < LONGEST else text[:LONGEST] + "..."


@known_as("tensorflow.types.experimental")
class RestoredFunction(_Called):
    """A `tf.function` of a file: the trace that fits the arguments runs.

    Parameters
    ----------
    name : str
        Under which it is known.
    traces : Sequence[Trace]
        All traces.
    spec : Optional[Tuple]
        The Python function's parameters: their names, that of further ones, that of further ones by name, the
        defaults of the last ones, and those that are given by name with their defaults.

    """

    def __init__(self, name, traces, spec):
        self.name = self.__name__ = name
        self._traces, self._spec = list(traces), spec

    concrete_functions = property(lambda self: [RestoredConcreteFunction(trace, _keywords(trace), len(trace.args))
                                                for trace in self._traces],
                                  doc="List[ConcreteFunction]: the traces.")

    def _bind(self, args, kwargs):
        """Return arguments as traces have them: by position all but those that are given by name only."""
        names, varargs, varkw, defaults, named_only = self._spec
        if len(args) > len(names) and varargs is None:
            raise TypeError(f"{self.name}: got {len(args)} arguments by position, expected {len(names)} at most")
        named = dict(kwargs)
        bound = list(args[:len(names)])
        for place in range(len(bound), len(names)):
            if names[place] in named:
                bound.append(named.pop(names[place]))
            elif place >= len(names) - len(defaults):
                bound.append(defaults[place - len(names)])
            else:
                raise TypeError(f"{self.name}: got no argument '{names[place]}', expected one")
        twice = [name for name in names[:len(args)] if name in named]
        if twice:
            raise TypeError(f"{self.name}: got several values for '{twice[0]}', expected one")
        by_name = {**named_only, **named}
        unknown = [name for name in named if name not in named_only]
        if unknown and varkw is None and not any(unknown[0] in trace.kwargs for trace in self._traces):
            raise TypeError(f"{self.name}: got an unknown argument '{unknown[0]}', expected some of {names}")
        return [*bound, *args[len(names):]], by_name

    def _find(self, args, kwargs):
        """Return the trace that arguments fit, and the tensors among them."""
        if not self._traces:
            raise ValueError("Found zero restored functions for caller function: it was never called before it was "
                             f"saved. Function: {self.name}")
        args, kwargs = self._bind(args, kwargs)
        for converts in (False, True):
            for trace in self._traces:
                found = []
                if structures.fit((tuple(trace.args), trace.kwargs), (args, kwargs), converts, found):
                    return trace, found
        options = "\n".join(f"Option {number}:\n  {trace.args}, {trace.kwargs}"
                            for number, trace in enumerate(self._traces, 1))
        shown = ", ".join([*map(_short, args), *(f"{key}={_short(value)}" for key, value in kwargs.items())])
        raise ValueError("Could not find matching concrete function to call loaded from the SavedModel. Got:\n  "
                         f"({shown})\nExpected these arguments to match one of the following {len(self._traces)} "
                         f"option(s):\n{options}")

    def __call__(self, *args, **kwargs):
        trace, operands = self._find(args, kwargs)
        return trace.run(operands)

    def get_concrete_function(self, *args, **kwargs):
        """Return the trace for arguments, or for the specs of them; the one there is without any.

        Parameters
        ----------
        *args : Any
            Tensors, specs and Python's values.
        **kwargs : Any
            The same by name.

        Returns
        -------
        ConcreteFunction
            The trace.

        """
        if not args and not kwargs and len(self._traces) == 1:
            trace = self._traces[0]
        else:
            trace, _ = self._find(args, kwargs)
        return RestoredConcreteFunction(trace, _keywords(trace), len(trace.args))

    def _variables(self):
        found = {id(variable): variable for trace in self._traces for variable in trace.read}
        return list(found.values())

    def __repr__(self):
        return f"<RestoredFunction {self.name}: {len(self._traces)} traces>"


def _keywords(trace):
    return [spec.name or f"arg_{place}" for place, spec in enumerate(structures.leaves((trace.args, trace.kwargs)))
            if structures.is_spec(spec)]


def parameters(proto, name):
    """Return what `RestoredFunction` needs to know of a Python function's parameters."""
    full = structures.decode(proto.fullargspec)
    if full is None:
        return [], "args", "kwargs", [], {}
    try:
        names, defaults = list(full.args), list(full.defaults or ())
        named_only = {key: value for key, value in (full.kwonlydefaults or {}).items()}
        varargs, varkw = full.varargs, full.varkw
    except (AttributeError, TypeError, ValueError) as error:
        raise DataLossError(None, None, f"{name}: got parameters {full!r}: {error}") from None
    if proto.is_method and names and names[0] == "self":
        names = names[1:]
    return names, varargs, varkw, defaults, named_only
