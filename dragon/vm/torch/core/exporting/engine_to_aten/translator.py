"""A graph of the engine's calls, written down as calls of PyTorch's operators."""
from dragon import _C
from dragon.core import modes
from dragon.core.expressions import evaluate
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.aten.decomposed import as_tensor
from dragon.vm.torch.core.device import device as Device
from dragon.vm.torch.core.exporting.decompositions import lowering_of
from dragon.vm.torch.core.exporting.errors import ExportError
from dragon.vm.torch.core.exporting.tracer import aten
from dragon.vm.torch.core.exporting.overload_resolution import NoOverload, resolve
from dragon.vm.torch.core.exporting.schemas import overloads
from dragon.vm.torch.core.exporting.engine_to_aten import (  # noqa: F401: which fill the table
    control_flow, layers, recurrent, shapes)
from dragon.vm.torch.core.exporting.engine_to_aten.table import LOWERINGS, arguments_of, named_arguments, torch_dtype
from dragon.vm.torch.core.tensor import Tensor


class Translator:
    """Writes calls down.

    Parameters
    ----------
    graph : Graph
        The engine's.
    tracer : ExportTracer
        Who hears what is called.
    values : Dict[int, Tensor]
        The graph's inputs, which the tracer knows.
    wanted : Sequence[int]
        The values that are asked for: calls that nobody needs are not said.
    sizes : Dict[str, int]
        By symbol of the graph: a size that it is.

    """

    def __init__(self, graph, tracer, values, wanted, sizes):
        self.graph, self.tracer, self.values = graph, tracer, dict(values)
        self.a, self.sizes = aten(), sizes
        self.calls, self.needed = _needed(graph.calls, wanted)
        self.notes = {}  # of rules, for those of later calls
        with ExitStack() as exits:
            exits.switch(modes.set_phantom, False)
            for value, tensor in graph.constants.items():
                tensor = _C.as_class(tensor, Tensor)
                self.values[value] = tracer.quietly(tensor.item, (), {}) if tensor.ndim == 0 else tensor

    def run(self):
        """Return {value: tensor} of all that was computed.

        Returns
        -------
        Dict[int, Any]
            Tensors; numbers for constants of no axes.

        """
        for place, call in enumerate(self.calls):
            self.place = place
            self._keep_what_is_read_later(call)
            made = self._lowered(call)
            self._enter(call, made)
        return self.values

    def _keep_what_is_read_later(self, call):
        """Copy what a call writes where a later one reads what was there before."""
        written = [argument for argument in arguments_of(call.op) if argument["mutated"]]
        if not written:
            return
        given = named_arguments(call, {value: value for value in call.inputs})
        later = {value for other in self.calls[self.place + 1:] for value in other.inputs}
        for argument in written:
            for value in [given[argument["name"]]] if isinstance(given[argument["name"]], int) else (
                    given[argument["name"]] or ()):
                if value in later:
                    self.values[value] = self.a.clone.default(self.values[value])

    def _lowered(self, call):
        named = {name: self._plain(value) for name, value in named_arguments(call, self.values).items()}
        for name, element, text in call.symbolic:
            self._follow(named, name, element, evaluate(text, self.sizes))
        self.call = call
        made = self._by_rule(call.op, named)
        if made is None:
            made = self._by_name(call, named)
        return self._own(call, named) if made is NotImplemented else made

    def _by_rule(self, operator, named):
        """Return what an operator's function gives, or its row; None where it has neither."""
        rule = LOWERINGS.get(operator)
        if rule is not None:
            return rule(self, **named)
        row = lowering_of(operator)
        if row is None:
            return None
        return row(**{argument["name"]: self._typed(argument, named[argument["name"]])
                      for argument in arguments_of(operator)})

    @staticmethod
    def _typed(argument, value):
        """Return an argument as PyTorch's operators take it."""
        return torch_dtype(value) if argument["type"].startswith("dtype") and value is not None else value

    @staticmethod
    def _plain(value):
        """Return a value as PyTorch's operators take it."""
        return list(value) if isinstance(value, tuple) else value

    @staticmethod
    def _follow(named, name, element, number):
        """Put a number that follows sizes in its place among arguments."""
        if isinstance(named[name], list):
            named[name][element] = number
        else:
            named[name] = number

    def _by_name(self, call, named):
        """Return what the operator of PyTorch's gives that has the name, with arguments in the same order."""
        if not overloads(call.op) or not hasattr(self.a, call.op):
            return NotImplemented
        args, kwargs = [], {}
        for argument in arguments_of(call.op):
            name, value = argument["name"], self._typed(argument, named[argument["name"]])
            if argument["keyword_only"] or name in ("dtype", "device"):
                if not (argument["has_default"] and (value is None or value == argument["default"])):
                    kwargs[name] = value
            else:
                args.append(value)
        try:
            overload, positional, keywords = resolve(call.op, args, kwargs)
        except NoOverload:
            return NotImplemented
        return getattr(getattr(self.a, call.op), overload)(*positional, **keywords)

    def _own(self, call, named):
        """Return what the engine's operator gives, by its own name."""
        if any(argument["type"].startswith("Graph") for argument in arguments_of(call.op)) or call.op == "host_call":
            raise ExportError(f"torch.export: the program has {call.op}, and asks for gradients or maps over slices; "
                              "expected one or the other")
        if call.is_random and named.get("generator") is not None:
            raise ExportError(f"torch.export: {call.op} draws from a generator of its own, in a program with gradients "
                              "or vmap; expected the default generator")
        from dragon.vm.torch._ops import namespace
        args, kwargs, count = [], {}, 0
        for argument in arguments_of(call.op):
            value = named[argument["name"]]
            is_usual = argument["has_default"] and _is_same(value, argument["default"])
            value = self.tensor(value) if argument["type"].startswith("Tensor") else value
            if not argument["keyword_only"]:
                args.append(value)
                count = count if is_usual else len(args)
            elif not is_usual:
                kwargs[argument["name"]] = value
        return getattr(namespace("dragon"), call.op).default(*args[:count], **kwargs)

    @staticmethod
    def tensor(value):
        """Return a number as a tensor."""
        return as_tensor(value)

    def tensor_like(self, value, other):
        """Return a number as a tensor of the dtype of another operand."""
        if isinstance(value, Tensor):
            return value
        named = {"dtype": other.dtype} if isinstance(other, Tensor) else {}
        return self.a.scalar_tensor.default(value, **named)

    def is_dense(self, tensor):
        """Return whether a tensor lies in memory in the order of its elements."""
        return self.tracer.quietly(tensor.is_contiguous, (), {})

    def _enter(self, call, made):
        results = [made] if call.result_count == 1 and not isinstance(made, (list, tuple)) else list(made)
        for value, result in zip(call.outputs[:call.result_count], results):
            if value is not None:
                self._check(call, value, result)
                self.values[value] = result
        written = [value for value, argument in _inputs_with_arguments(call) if argument["mutated"]]
        for value, after in zip(written, call.outputs[call.result_count:]):
            if after is not None:
                self.values[after] = self.values[value]

    def _check(self, call, value, result):
        wanted = self.graph.value(value)
        if isinstance(result, Tensor) and self._form(result) != (tuple(wanted.shape), f"torch.{wanted.dtype}"):
            shape, dtype = self._form(result)
            raise ExportError(f"torch.export: {call.op} is written as what gives {shape} {dtype}, the program's call "
                              f"{tuple(wanted.shape)} torch.{wanted.dtype}; this is a mistake of Dragon's")

    def _form(self, tensor):
        return self.tracer.quietly(lambda: tuple(int(size) for size in tensor.shape), (), {}), str(tensor.dtype)

    def has_form(self, tensor):
        """Return whether a tensor has the form of what the present call gives."""
        wanted = self.graph.value(self.call.outputs[0])
        return self._form(tensor) == (tuple(wanted.shape), f"torch.{wanted.dtype}")

    # --- what rules ask

    def options(self, dtype, device):
        """Return how a call that makes a tensor of nothing says of what kind, which may have come by default."""
        made = self.graph.value(self.call.outputs[0])
        return {"dtype": torch_dtype(dtype or made.dtype), "device": Device(device or made.device), "pin_memory": False}

    def wants(self, place):
        """Return whether anybody needs a result of the present call."""
        return self.call.outputs[place] in self.needed

    def partner(self, op, result=None, **inputs):
        """Return the arguments, as values' numbers, of an earlier call that takes these values, or None.

        Parameters
        ----------
        op : str
            The engine's operator.
        result : Optional[int]
            What it gave.
        **inputs : int
            Values by argument.

        Returns
        -------
        Optional[Dict[str, Any]]
            Values by argument.

        """
        for call in self.calls[:self.place]:
            if call.op == op and (result is None or call.outputs[0] == result):
                given = named_arguments(call, {value: value for value in call.inputs})
                if all(given[name] == value for name, value in inputs.items()):
                    return given
        return None

    def maker(self, op, place, value):
        """Return the earlier call of an operator whose result in a place a value is, or None.

        Parameters
        ----------
        op : str
            The engine's operator.
        place : int
            Which of the call's results.
        value : int
            The value's number.

        Returns
        -------
        Optional[GraphCall]
            The call.

        """
        return next((call for call in self.calls[:self.place] if call.op == op and call.outputs[place] == value), None)

    def numbers(self):
        """Return {argument: value's number} of the present call."""
        return named_arguments(self.call, {value: value for value in self.call.inputs})

    def shape_of(self, value):
        """Return the shape of a value of the graph."""
        return list(self.graph.value(value).shape)


def _needed(calls, wanted):
    """Return the calls that are needed for some values, in order, and all values that are needed."""
    needed, kept = set(wanted), []
    for call in reversed(list(calls)):
        if call.is_random or any(value in needed for value in call.outputs):
            kept.append(call)
            needed.update(call.inputs)
    return kept[::-1], needed


def _is_same(value, default):
    return value is default or type(value) is type(default) and not isinstance(value, Tensor) and value == default


def _inputs_with_arguments(call):
    """Yield (value, argument) for every input."""
    given, sizes = iter(call.inputs), iter(call.list_sizes)
    for argument in arguments_of(call.op):
        if argument["type"].startswith("Tensor"):
            for _ in range(next(sizes) if "[]" in argument["type"] else 1):
                yield next(given), argument
