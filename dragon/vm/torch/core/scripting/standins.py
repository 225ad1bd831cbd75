"""Stand-ins for tensors, which write down what is asked of them."""
import ast
import functools
import inspect

from dragon.core.python_operators import BINARY, COMPARISONS, function_of
from dragon.dialects.aten import table
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.python_operators import ATEN, FUNCTIONS, scripts_name
from dragon.vm.torch.core.scripting import resolving
from dragon.vm.torch.core.scripting.compiler import Compiler
from dragon.vm.torch.core.scripting.failures import Missing, Source
from dragon.vm.torch.core.scripting.schemas import overloads
from dragon.vm.torch.core.scripting.scopes import Builtin, Called, Special
from dragon.vm.torch.core.scripting.scripts import python_scripts
from dragon.vm.torch.core.scripting.types import FLOAT, INT, NONE, TENSOR, DictType, ListType, TupleType, optional
from dragon.vm.torch.core.dtypes import dtype as Dtype
from dragon.vm.torch.core.tensor import Tensor

KNOWN = {"T": "aten::numpy_T", "mT": "aten::mT", "H": "aten::matrix_H", "mH": "aten::mH", "real": "aten::real",
         "imag": "aten::imag"}
# Names that functions have here, and what PyTorch calls them.
ALIKE = {"numpy_t": "numpy_T", "divide": "div"}
CASTS = ("float", "double", "half", "long", "int", "bool", "short", "char", "byte", "bfloat16", "cpu", "type")
NUMBERS = ("item", "tolist", "numpy")


class StandIn:
    """What a program gets instead of a tensor while it is recorded."""

    def __init__(self, recorder, tensor, value):
        self.__dict__.update(_recorder=recorder, _tensor=tensor, _value=value)

    __class__ = property(lambda self: type(self._tensor))

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        recorder = next(part._recorder for part in flat((args, kwargs or {})) if type(part) in (StandIn, TracedInt))
        return recorder.call(function, args, kwargs or {})

    def __getattr__(self, name):
        found = getattr(self._tensor, name)
        if name == "shape":
            return self._recorder.sizes(self)
        if name in KNOWN:
            return self._recorder.operate(KNOWN[name], lambda tensor: found, (self,), {})
        if name == "data":
            return self._recorder.operate("aten::detach", lambda tensor: found, (self,), {})
        if not callable(found) or type(found).__name__ in ("device", "dtype", "layout", "type"):
            return found

        def method(*args, **kwargs):
            return self._recorder.method(name, (self, *args), kwargs)
        return method

    def __setattr__(self, name, value):
        raise NotImplementedError(f"torch.jit.save: got a trace that sets {name} of a tensor, expected none that does")

    def __getitem__(self, index):
        return self._recorder.take(self, index)

    def __setitem__(self, index, value):
        self._recorder.set(self, index, value)

    def __len__(self):
        return len(self._tensor)

    def __iter__(self):
        return iter(self._recorder.method("unbind", (self, 0), {}))

    def __bool__(self):
        return looks_at_numbers()

    def __int__(self):
        return looks_at_numbers()

    __float__ = __index__ = __int__

    def __hash__(self):
        return id(self)

    def __neg__(self):
        return self._recorder.method("neg", (self,), {})

    def __invert__(self):
        return self._recorder.method("bitwise_not", (self,), {})

    def __abs__(self):
        return self._recorder.method("abs", (self,), {})


class TracedInt(int):
    """A size that is known to come from a tensor."""

    def __new__(cls, recorder, number, value):
        made = super().__new__(cls, number)
        made._recorder, made._value = recorder, value
        return made

    __torch_function__ = StandIn.__dict__["__torch_function__"]

    def __neg__(self):
        return self._recorder.count("aten::neg", -int(self), self)


def _give_operators():
    """Give stand-ins and sizes Python's operators."""
    def tensor_operator(name, word, reverse):
        def operate(self, other):
            pair = (other, self) if reverse else (self, other)
            return self._recorder.binary(word, name, *pair)
        return operate

    def number_operator(name, word):
        plain = getattr(int, name)

        def operate(self, other):
            if type(other) is StandIn or not isinstance(other, int):
                return plain(self, other) if type(other) is not StandIn else NotImplemented
            pair = (other, self) if name.startswith("__r") else (self, other)
            return self._recorder.count(word, plain(self, other), *pair)
        return operate

    for name in BINARY:
        word = f"aten::{ATEN[name]}"
        setattr(StandIn, f"__{name}__", tensor_operator(name, word, False))
        # `2 << x` of a script takes tensors of one number alone, so that a trace has the function's operator.
        swapped = f"aten::{FUNCTIONS[name]}" if name.endswith("shift") else word
        setattr(StandIn, f"__r{name}__", tensor_operator(name, swapped, True))
        if name not in ("matmul",):
            inner = ATEN[name]

            def change(self, other, word=f"aten::{inner}_" if not inner.startswith("__") else None, name=name):
                if word is None:
                    return self._recorder.binary(f"aten::{ATEN[name]}", name, self, other)
                return self._recorder.method(word.partition("::")[2], (self, other), {})
            setattr(StandIn, f"__i{name}__", change)
    for name in COMPARISONS:
        setattr(StandIn, f"__{name}__", tensor_operator(name, f"aten::{name}", False))
    for name in ("add", "sub", "mul", "floordiv", "mod"):
        word = scripts_name(name)
        setattr(TracedInt, f"__{name}__", number_operator(f"__{name}__", word))
        setattr(TracedInt, f"__r{name}__", number_operator(f"__r{name}__", word))


_give_operators()


def flat(value):
    """Yield the leaves of nested containers."""
    if isinstance(value, dict) and type(value) is not StandIn:
        value = list(value.values())
    if type(value) is not StandIn and isinstance(value, (list, tuple)):
        for part in value:
            yield from flat(part)
    else:
        yield value


def real(value):
    """Return a value without stand-ins."""
    if type(value) is StandIn:
        return value._tensor
    if type(value) is TracedInt:
        return int(value)
    if isinstance(value, slice):
        return slice(real(value.start), real(value.stop), real(value.step))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(real, value))
    if type(value) in (list, tuple):
        return type(value)(map(real, value))
    if type(value).__name__ == "Size":
        return tuple(map(int, value))
    if isinstance(value, dict):
        return {key: real(part) for key, part in value.items()}
    return value


class Recorder:
    """Writes one call down.

    Parameters
    ----------
    name : str
        Of what is traced.

    """

    def __init__(self, name):
        tree = ast.parse("def forward(): pass").body[0]
        self.compiler = Compiler(python_scripts(), Source("", name), tree, python_scripts().typing_names)
        self.node = tree
        self.name, self.known = name, {}  # identity of a tensor -> (the tensor, function that gives its value)

    # --- values

    def value(self, found):
        """Return the graph's value of an argument."""
        if type(found) in (StandIn, TracedInt):
            return found._value
        if isinstance(found, Tensor):
            known = self.known.get(id(found))
            if known is None:
                return self.compiler.constant(found.detach(), TENSOR)
            return known[1]()
        if isinstance(found, (list, tuple)):
            parts = [self.value(part) for part in found]
            if any(part.type == NONE for part in parts):
                return self.compiler.emit("prim::ListConstruct", parts, (ListType(optional(TENSOR)),))
            kinds = {part.type for part in parts}
            if isinstance(found, list) or kinds == {INT} or len(kinds) == 1 and kinds <= {TENSOR, FLOAT}:
                kind = INT if not parts else parts[0].type if len(kinds) == 1 else FLOAT
                return self.compiler.emit("prim::ListConstruct", parts, (ListType(kind),))
            return self.compiler.tuple_of(parts, self.node)
        if isinstance(found, dict):
            parts = [self.value(part) for pair in found.items() for part in pair]
            kind = DictType(parts[0].type, parts[1].type) if parts else DictType(INT, TENSOR)
            return self.compiler.emit("prim::DictConstruct", parts, (kind,))
        if type(found).__name__ in ("device", "dtype", "layout", "memory_format") or found is None or isinstance(
                found, (bool, int, float, complex, str)):
            made = resolving.as_constant(found)
            return self.compiler.python_constant(made, self.node)
        raise NotImplementedError(f"torch.jit.save: got a trace with {type(found).__name__} among a call's arguments, "
                                  "expected tensors, numbers, texts and lists of them")

    def bind(self, found, value):
        """Return a result with stand-ins for what the graph knows."""
        if isinstance(found, Tensor):
            return StandIn(self, found, value) if value.type == TENSOR else found
        if isinstance(value.type, TupleType) and isinstance(found, tuple):
            parts = self.compiler.unpacked(value, 0, self.node, any_count=True)
            parts = [self.bind(part, inner) for part, inner in zip(found, parts)]
            return type(found)(parts) if not hasattr(found, "_fields") else named(found, parts)
        if type(value.type) is ListType and value.type.element == TENSOR and isinstance(found, (list, tuple)):
            parts = self.compiler.unpacked(value, len(found), self.node)
            return type(found)(self.bind(part, inner) for part, inner in zip(found, parts))
        if value.type == INT and isinstance(found, int) and not isinstance(found, bool):
            return TracedInt(self, found, value)
        return found

    # --- calls

    def call(self, function, args, kwargs):
        """Answer a call of a function of the API."""
        name = getattr(function, "__name__", str(function))
        if name in ("__getitem__", "__setitem__"):
            return self.take(*args) if name == "__getitem__" else self.set(*args)
        if name == "__get__":
            return getattr(args[0], getattr(function.__self__, "__name__", "shape"))
        place = resolving.named_functions().get(id(function))
        sugar = resolving.in_torch(self.compiler.scripts, *place) if place is not None else None
        if isinstance(sugar, Called):
            return self.call_recipe(sugar, function, args, kwargs)
        if isinstance(sugar, Builtin):
            return self.operate(sugar.name, function, args, kwargs)
        if isinstance(sugar, Special) and sugar.name in ("einsum", "rowed"):
            row = args[1:] if sugar.name == "einsum" else args
            row = row[0] if len(row) == 1 and isinstance(row[0], (list, tuple)) else row
            first = args[:1] if sugar.name == "einsum" else ()
            return self.operate(sugar.first or "aten::einsum", function, (*first, list(row)), kwargs,
                                real_args=args)
        word = ALIKE.get(name, name)
        if overloads("aten::" + word):
            try:
                return self.operate("aten::" + word, function, args, kwargs)
            except (Refused, Missing):
                pass
        return self.call_within(function, args, kwargs)

    def call_within(self, function, args, kwargs, reason=""):
        """Run the Python code of a function, whose own calls are recorded."""
        inner = getattr(function, "__wrapped__", None)
        if inner is None or not inspect.isfunction(inner):
            name = getattr(function, "__name__", "")
            raise NotImplementedError(f"torch.jit.save: got a trace with a call of {name}, "
                                      f"of which there is no script, expected others{': ' + reason if reason else ''}")
        return inner(*args, **kwargs)

    def call_recipe(self, sugar, function, args, kwargs):
        """Record a call of a function that is a script itself."""
        try:
            values = [self.value(part) for part in args]
            named_values = {key: self.value(part) for key, part in kwargs.items()}
            value = self.compiler.call(sugar, values, named_values, self.node)
        except (RuntimeError, NotImplementedError) as error:
            return self.call_within(function, args, kwargs, str(error))
        return self.bind(function(*real(args), **real(kwargs)), value)

    def method(self, name, args, kwargs):
        """Answer a call of a method."""
        if name in NUMBERS:
            return looks_at_numbers()
        if name == "size":
            sizes = self.sizes(args[0])
            return sizes[args[1] if len(args) > 1 else kwargs["dim"]] if len(args) > 1 or kwargs else sizes
        if name in ("dim", "ndimension", "stride", "is_contiguous", "element_size", "data_ptr", "is_floating_point",
                    "is_complex", "storage_offset", "get_device", "untyped_storage"):
            return getattr(args[0]._tensor, name)(*args[1:], **kwargs)
        if name in ("numel", "nelement"):
            return self.operate("aten::numel", lambda tensor: tensor.numel(), args[:1], {})
        if name in ("register_hook", "backward", "requires_grad_"):
            return args[0]
        if name == "view" and any(isinstance(part, Dtype) for part in (*args[1:], *kwargs.values())):
            raise NotImplementedError("torch.jit.save: got a trace with a call of view(dtype), expected view(*sizes): "
                                      "scripts take the number that a dtype is for a size")
        function = getattr(Tensor, name)
        if name in CASTS or name in ("cuda", "to"):
            return self.convert(name, function, args, kwargs)
        if takes_sizes(name):
            args = rowed(args)
        if not overloads("aten::" + name):
            return self.call(function, args, kwargs)
        return self.operate("aten::" + name, function, args, kwargs)

    def convert(self, name, function, args, kwargs):
        """Record a conversion: by the type that came of it."""
        made = function(*real(args), **real(kwargs))
        source = args[0]._tensor
        if made is source or made.dtype == source.dtype:
            return args[0] if made is source else self.operate("aten::alias", lambda tensor: made, args[:1], {})
        return self.operate("aten::to", lambda *_: made, (args[0], made.dtype, False, False, None), {})

    def operate(self, name, function, args, kwargs, real_args=None):
        """Record a call of an operator, and make it."""
        kwargs = {key: part for key, part in kwargs.items()}
        first = overloads(name)[0].arguments if overloads(name) else ()
        renamed = {"input": "self", "dim": "dim", "axis": "dim", "keepdims": "keepdim"}
        names = {argument.name for schema in overloads(name) for argument in schema.arguments}
        emitted = {key if key in names else renamed.get(key, key): part for key, part in kwargs.items()}
        if first and first[0].name == "tensors" and args and isinstance(args[0], tuple):
            args = (list(args[0]), *args[1:])
        value = self.emitted(name, [self.value(part) for part in args],
                             {key: self.value(part) for key, part in emitted.items()})
        found = function(*real(args if real_args is None else real_args), **real(kwargs))
        return self.bind(found, value)

    def emitted(self, name, values, named):
        """Return the value of an operator; Dragon's functions take in a row what scripts take by name."""
        try:
            return self.compiler.builtin(name, values, named, self.node)
        except (RuntimeError, Missing) as error:
            for schema in overloads(name):
                count = sum(1 for argument in schema.arguments if not argument.keyword)
                words = [argument.name for argument in schema.arguments if argument.keyword]
                if count < len(values) <= count + len(words):
                    more = dict(zip(words, values[count:]))
                    try:
                        return self.compiler.builtin(name, values[:count], {**named, **more}, self.node)
                    except RuntimeError:
                        continue
            told = " ".join(str(error).split("The original call is")[0].split())
            raise Refused(f"torch.jit.save: got a trace with a call of {name} that has no script: {told}") from error

    def binary(self, name, word, one, other):
        """Record `one op other`."""
        found = function_of(word)(real(one), real(other))
        if word == "floordiv" and not isinstance(one, Tensor):  # the operator takes no number there
            one = api().tensor(one)
        values = [self.value(part) for part in (one, other)]
        return self.bind(found, self.compiler.binary(name, *values, self.node))

    def count(self, name, number, *parts):
        """Record arithmetic of sizes."""
        return TracedInt(self, number, self.compiler.builtin(name, [self.value(part) for part in parts], {}, self.node))

    def sizes(self, tensor):
        """Return a tensor's sizes, each of which is known to be one."""
        return tuple(TracedInt(self, number, self.compiler.builtin(
            "aten::size", [tensor._value, self.compiler.constant(axis)], {}, self.node))
            for axis, number in enumerate(tensor._tensor.shape))

    # --- parts

    def part(self, tensor, index):
        """Return (value of a part, list of index tensors or None)."""
        parts = list(index) if isinstance(index, tuple) else [index]
        build, value, axis, indices = self.compiler, tensor._value, 0, []
        left = tensor._tensor.dim() - sum(consumed(part) for part in parts)
        for part in parts:
            place = build.constant(axis)
            if part is ...:
                axis += left
            elif part is None:
                value, axis = build.builtin("aten::unsqueeze", [value, place], {}, self.node), axis + 1
            elif isinstance(part, slice):
                step = 1 if part.step is None else part.step
                ends = [self.value(part.start), self.value(part.stop), self.value(step)]
                value, axis = build.builtin("aten::slice", [value, place, *ends], {}, self.node), axis + 1
            elif isinstance(part, int) and not isinstance(part, bool):
                value = build.builtin("aten::select", [value, place, self.value(part)], {}, self.node)
            else:
                if isinstance(part, (list, bool)):
                    part = build.builtin("aten::tensor", [self.value(part)], {}, self.node)
                    indices.append((axis, part, 1))
                else:
                    indices.append((axis, self.value(part), consumed(part)))
                axis += indices[-1][2]
        if not indices:
            return value, None
        row, at = [], 0
        for place, index_value, count in indices:
            while at < place:
                row.append(build.constant(None))
                at += 1
            row.append(index_value)
            at += count
        return value, build.emit("prim::ListConstruct", row, (ListType(optional(TENSOR)),))

    def take(self, tensor, index):
        """Record the reading of a part."""
        if type(tensor) is not StandIn:
            tensor = StandIn(self, tensor, self.value(tensor))
        found = tensor._tensor[real(index)]
        value, indices = self.part(tensor, index)
        if indices is not None:
            value = self.compiler.builtin("aten::index", [value, indices], {}, self.node)
        return self.bind(found, value)

    def set(self, tensor, index, value):
        """Record the writing of a part."""
        if type(tensor) is not StandIn:
            tensor = StandIn(self, tensor, self.value(tensor))
        tensor._tensor[real(index)] = real(value)
        part, indices = self.part(tensor, index)
        value = self.value(value)
        if indices is not None:
            if value.type != TENSOR:
                value = self.compiler.scalar_tensor(value, part, self.node)
            self.compiler.builtin("aten::index_put_", [part, indices, value], {}, self.node)
        else:
            name = "aten::copy_" if value.type == TENSOR else "aten::fill_"
            self.compiler.builtin(name, [part, value], {}, self.node)


def looks_at_numbers():
    """Raise: what a program does for other numbers is not known from one call."""
    raise RuntimeError("torch.jit.save: got a trace of a program that looks at a tensor's numbers, expected none: "
                       "torch.jit.script keeps its branches")


class Refused(RuntimeError):
    """A call that no operator of the table fits."""


def named(found, parts):
    """Return a named tuple with other elements."""
    made = type(found)
    return made(*parts) if not hasattr(made, "_make") or isinstance(found, tuple) and len(
        inspect.signature(made).parameters or ()) != 1 else made._make(parts)


def consumed(part):
    """Return how many axes an index takes."""
    if part is None or part is ... or isinstance(part, bool):
        return 0
    tensor = real(part)
    return tensor.dim() if isinstance(tensor, Tensor) and str(tensor.dtype) in ("torch.bool", "torch.uint8") else 1


@functools.cache
def takes_sizes(name):
    """Return whether numbers behind the tensor may be one list: an operator takes one there, and none a number."""
    kinds = [line.arguments[1].type for line in table.overloads(name).values() if len(line.arguments) > 1]
    return not {"int[]", "SymInt[]"}.isdisjoint(kinds) and {"int", "SymInt"}.isdisjoint(kinds)


def rowed(args):
    """Return arguments with sizes in a row as one list."""
    first, *rest = args
    if rest and all(isinstance(part, int) for part in rest):
        return first, list(rest)
    return args
