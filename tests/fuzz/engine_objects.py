"""Live objects of the engine's classes, and what their functions expect: right arguments for hostile calls."""
import ast
import gc
import inspect
import re

import numpy

import dragon
from dragon import _C

SIGNATURE = re.compile(r"^\w+(\(.*?\))(?: -> .*)?$", re.MULTILINE)
DTYPES = """bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 uint16 uint32 uint64
    float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz complex32""".split()
# What an argument that may be any object is, by its name.
NAMED = {
    "Tensor": "tensor x y a b leaf item source input data other owner numbers",
    "tensors": "roots inputs outputs tensors arguments ins outs grads parts implicit args given",
    "class": "tensor_class parts_class type frontend_class",
    "dtype": "dtype destination",
    "device": "device where",
    "sizes": "shape sizes size strides axes region",
    "function": """function handler callable hook backward pack unpack place scope watcher keeper describer refusal
        fallback fail carrier whole real""",
    "str": "name why op path layout reduction how service words symbol memory",
    "bytes": "record body places bytes state",
    "dict": "dtypes names results kwargs named dict",
    "int": "kind index number position group rank value to_index",
}
KINDS = {word: kind for kind, words in NAMED.items() for word in words.split()}
SLOTS = {name: count for count, names in enumerate((
    "len bool int float index neg abs pos invert repr str hash iter next complex dir reduce copy", """
    add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or ror xor
    rxor lshift rlshift rshift rrshift iadd isub imul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift eq ne
    lt le gt ge getitem delitem contains reduce_ex getattribute delattr setstate format deepcopy sizeof class_getitem
    buffer""", "setitem setattr get set delete call")) for name in names.split()}


def tensor(count=3, requires_grad=False):
    """Return a small tensor."""
    made = dragon.tensor(numpy.arange(count, dtype="float32"))
    made.requires_grad = requires_grad
    return made


def graph():
    """Return a graph of two calls with a symbol."""
    made = _C.Graph("small")
    x = made.add_input([3], symbolic={0: "n"})
    y, = made.add_call("add", [x, x])
    z, = made.add_call("relu", [y])
    made.outputs = [z]
    return made


def trace():
    """Return a trace of one call, and the result."""
    made, x = _C.Trace(), tensor(requires_grad=True)
    made.add_input(x)
    made.start()
    try:
        y = x * x
    finally:
        made.stop()
    return made, y


def capture():
    """Return what a traced call did."""
    made, y = trace()
    return made.finish([y])


def procedure():
    """Return a call for other sizes."""
    made, x = _C.Trace(), tensor()
    made.add_input(x)
    made.start()
    scribe = _C.Scribe()
    scribe.add_argument(x, [0])
    scribe.start()
    try:
        y = x * x
    finally:
        scribe.stop()
        made.stop()
    return _C.finish_procedure(scribe, [y])


def node():
    """Return a step of the backward graph."""
    return (tensor(requires_grad=True) * 2).grad_fn


def guards():
    """Return guards of a dictionary and an argument."""
    made, watched = _C.Guards(), {"a": 1}
    made.add(0, watched, ["a"], [(2, 1)])
    made.set_arguments(((0, "x", tensor()), (1, "n", 2, 3)), ())
    return made


def ops():
    """Return operators of a frontend of their own, which nobody else uses."""
    own = type("Scratch", (_C.Tensor,), {})
    return _C.Ops(own, {name: _C.dtype(name) for name in DTYPES})


def block():
    """Return a block of shared memory."""
    return _C.SharedBlock(64)


RECIPES = {
    "Tensor": tensor, "Graph": graph, "GraphBody": lambda: _C.GraphBody(graph()), "Trace": lambda: trace()[0],
    "Plan": lambda: _C.Plan(capture().graph), "Capture": capture, "Program": lambda: capture().compile(),
    "Scribe": _C.Scribe, "Procedure": procedure, "ProcedureParts": lambda: procedure().parts(),
    "PartsRun": lambda: procedure().parts().begin([tensor()], []), "Node": node,
    "Hook": lambda: _C.register_hook(tensor(requires_grad=True), print),
    "SavedTensor": lambda: _C.SavedTensor(tensor()),
    "Generator": lambda: _C.Generator(3), "Object": lambda: _C.Generator(3), "SharedBlock": block, "Guards": guards,
    "GeneratorGuard": lambda: _C.GeneratorGuard(_C.Generator(3)), "RecordBuffer": _C.RecordBuffer, "Ops": ops,
    "dtype": lambda: _C.dtype("int64"), "Shape": lambda: _C.Shape((2, 3)), "GraphValue": lambda: graph().values[0],
    "GraphCall": lambda: graph().calls[0], "PictureBatch": lambda: _C.PictureBatch([4, 4]),
    "DeviceGraph": lambda: _C.DeviceGraph(), "Event": lambda: _C.Event(False, False, False),
    "AskingField": lambda: ops().asking_field("name", property(lambda self: 3)),
}


def live(name):
    """Return an object of a class of the engine's, or None where there is no way to one here."""
    return RECIPES[name]() if name in RECIPES else None


def other_objects():
    """Yield (name, thunk) of objects of the engine that no class of the module's names."""
    yield "operator", lambda: dragon.ops.add
    yield "bound operator", lambda: ops().add
    yield "overridable", lambda: ops().overridable(lambda x: x)
    yield "walk", lambda: _C.kpl_walk(lambda offset, size: b"", 0, b"", 0, None, print)
    for name in sorted(RECIPES):
        yield name, RECIPES[name]


# --- what functions expect


def parameters(found, is_method):
    """Return [(name, type)] of a function of the module, as pybind11 or C tells it; `self` is left out of methods."""
    text = getattr(found, "__doc__", None) or ""
    told = SIGNATURE.search(text)
    if told:
        parsed = parse(told[1])
        if parsed is not None:
            return parsed[1:] if is_method else parsed
    try:
        names = list(inspect.signature(found).parameters)
    except (TypeError, ValueError):
        names = ["self", "argument"] if is_method else ["argument"]
    return [(name, "object") for name in names if not (is_method and name == "self")]


def parse(text):
    """Return [(name, type)] of a signature as text, or None."""
    text = re.sub(r"= <[^>]*>", "= None", text)
    try:
        arguments = ast.parse(f"def f{text}: pass").body[0].args
    except SyntaxError:
        return None
    every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    return [(each.arg, ast.unparse(each.annotation) if each.annotation else "object") for each in every]


def right(name, kind):
    """Return a value that an argument of this name and type may well have."""
    engine = re.search(r"_C\.(\w+)", kind)
    if engine:
        made = live(engine[1])
        return [made] if "Sequence[" in kind.split("_C.")[0] else made
    if "Sequence" in kind or "list" in kind or "tuple" in kind:
        return [] if "str" in kind or "tuple[" in kind else (tensor(),) if "object" in kind else [3]
    if kind == "object" or "Callable" in kind or "type" in kind:
        kind = KINDS.get(name, "function" if "Callable" in kind else "class" if kind == "type" else "Tensor")
    word = kind if kind in RIGHT else re.sub(r"\W.*", "", kind)
    return RIGHT.get(word, lambda: 1)()


def answer(*args, **kwargs):
    """Return the first argument: a function that does no harm."""
    return args[0] if args else None


RIGHT = {"Tensor": tensor, "tensors": lambda: (tensor(),), "class": lambda: dragon.Tensor, "dtype": lambda: "float32",
         "device": lambda: "cpu", "sizes": lambda: (3,), "function": lambda: answer, "str": lambda: "sum",
         "bytes": bytes, "dict": dict, "bool": lambda: True, "float": lambda: 1.0}


def tidy(made):
    """Stop what hostile calls have begun."""
    for started in made:
        try:
            started.stop()
        except Exception:  # what cannot be stopped was not begun
            pass
    gc.collect(0)
