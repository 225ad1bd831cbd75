"""Load exported programs from .pt2 files, written by PyTorch or by Dragon."""
import io
import json
import operator
import os
import pickle

from dragon.vm.torch.core.exporting.higher_order import HigherOrderOperator
from dragon.vm.torch.core.exporting.symbols import NUMBERS_OPERATORS, OPEN, Expression, ValueRanges
from dragon.vm.torch.core.exporting.fake_tensor import FakeTensor
from dragon.vm.torch.core.exporting.serialized_values import (
    FORMATS, FileError, device_of, dtype_of, layout_of, size_in)
from dragon.vm.torch.core.files.archive import ArchiveReader, Corrupt
from dragon.vm.torch.core.exporting import signatures
from dragon.vm.torch.core.exporting.exported import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from dragon.vm.torch.core.exporting.signatures import ConstantArgument, InputKind, InputSpec, OutputKind, OutputSpec
from dragon.vm.torch.fx.graph import Graph
from dragon.vm.torch.fx.graph_module import GraphModule
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.utils import _pytree as pytree

MAJOR = 8


class _GraphReader:
    """Makes a graph of a file's words."""

    def __init__(self, words):
        self.words, self.graph, self.nodes = words, Graph(), {}
        self.modules = {}  # graphs that operators take

    def read(self, signature):
        """Return the graph."""
        for argument, spec in zip(self.words["inputs"], signature.input_specs):
            node = self.graph.placeholder(spec.arg.name)
            node.name = spec.arg.name
            self.nodes[spec.arg.name] = node
            node.meta["val"] = self._value(spec.arg.name) if not isinstance(
                spec.arg, ConstantArgument) else spec.arg.value
        for words in self.words["nodes"]:
            self._node(words)
        self.graph.output(tuple(self._argument(value) for value in self.words["outputs"]))
        return self.graph

    def read_within(self):
        """Return the graph, which an operator takes, as a module."""
        for argument in self.words["inputs"]:
            (name,) = self._names([argument])
            self.nodes[name] = node = self.graph.placeholder(name)
            node.name, node.meta["val"] = name, self._value(name)
        for words in self.words["nodes"]:
            self._node(words)
        self.graph.output(tuple(self._argument(value) for value in self.words["outputs"]))
        return GraphModule(self.modules, self.graph)

    def _graph(self, words):
        """Return the node that gives a graph within."""
        name = str(words["name"])
        if not name.isidentifier():
            raise FileError(f"torch.export.load: got a graph named {name!r}, expected an identifier")
        self.modules[name] = _GraphReader(words["graph"]).read_within()
        node = self.graph.create_node("get_attr", name, (), {}, name)
        node.meta["nn_module_stack"] = {}
        return node

    def _value(self, name):
        if name in self.words["tensor_values"]:
            return fake(self.words["tensor_values"][name])
        for table in ("sym_int_values", "sym_bool_values", "sym_float_values"):
            words = self.words.get(table, {}).get(name)
            if words is not None:
                return size_in(words) if table == "sym_int_values" else next(iter(words.values()))
        return None

    def _get(self, name):
        if name not in self.nodes:
            raise FileError(f"torch.export.load: got the name {name!r}, expected that of an input or a node before")
        return self.nodes[name]

    def _sym(self, words):
        return self._get(words["as_name"]) if "as_name" in words else next(iter(words.values()))

    def _argument(self, words):
        (kind, value), = words.items()
        if kind not in _READ:
            raise FileError(f"torch.export.load: got an argument {kind}, expected tensors, numbers, strs, dtypes and "
                            "devices")
        return _READ[kind](self, value)

    def _node(self, words):
        target = _target(words["target"])
        args = tuple(self._argument(one["arg"]) for one in words["inputs"] if one.get("kind") != 2)
        kwargs = {one["name"]: self._argument(one["arg"]) for one in words["inputs"] if one.get("kind") == 2}
        if words["inputs"] and words["inputs"][0].get("kind") is None:
            args, kwargs = _placed(target, words["inputs"], self._argument)
        outputs = words["outputs"]
        names = self._names(outputs)
        single = len(outputs) == 1 and "as_tensors" not in outputs[0] and (
            not isinstance(target, HigherOrderOperator) or words.get("is_hop_single_tensor_return") is True)
        name = words.get("name") or (names[0] if single and names else target.__name__.partition(".")[0])
        node = self.graph.create_node("call_function", target, args, kwargs, name)
        node.name = name
        metadata = words.get("metadata") or {}
        if metadata.get("stack_trace"):
            node.meta["stack_trace"] = metadata["stack_trace"]
        node.meta["nn_module_stack"] = _stack(metadata.get("nn_module_stack"))
        if not outputs:
            return
        if single:
            self.nodes[names[0]] = node
            node.meta["val"] = self._value(names[0])
            return
        values = []
        for place, part in enumerate(names):
            values.append(self._value(part))
            if part.startswith(f"{name}_unused_"):
                continue
            made = self.graph.create_node("call_function", operator.getitem, (node, place), {}, part)
            made.name = part
            made.meta.update(val=values[-1], nn_module_stack=dict(node.meta["nn_module_stack"]))
            self.nodes[part] = made
        node.meta["val"] = tuple(values)

    @staticmethod
    def _names(outputs):
        found = []
        for one in outputs:
            (kind, value), = one.items()
            if kind == "as_tensors":
                found += [item["name"] for item in value]
            elif kind == "as_none":
                found.append("")
            else:
                found.append(value.get("name") or value.get("as_name"))
        return found


def _optional(reader, words):
    return None if "as_none" in words else reader._get(words["as_tensor"]["name"])


_READ = {
    "as_none": lambda reader, value: None, "as_tensor": lambda reader, value: reader._get(value["name"]),
    "as_tensors": lambda reader, value: [reader._get(one["name"]) for one in value],
    "as_optional_tensors": lambda reader, value: [_optional(reader, one) for one in value],
    "as_optional_tensor": _optional, "as_graph": lambda reader, value: reader._graph(value),
    "as_int": lambda reader, value: int(value), "as_ints": lambda reader, value: list(map(int, value)),
    "as_float": lambda reader, value: float(value), "as_floats": lambda reader, value: list(map(float, value)),
    "as_string": lambda reader, value: str(value), "as_strings": lambda reader, value: list(value),
    "as_bool": lambda reader, value: bool(value), "as_bools": lambda reader, value: list(value),
    "as_sym_int": lambda reader, value: reader._sym(value), "as_sym_float": lambda reader, value: reader._sym(value),
    "as_sym_bool": lambda reader, value: reader._sym(value),
    "as_sym_ints": lambda reader, value: [reader._sym(one) for one in value],
    "as_sym_floats": lambda reader, value: [reader._sym(one) for one in value],
    "as_scalar_type": lambda reader, value: dtype_of(value), "as_device": lambda reader, value: device_of(value),
    "as_layout": lambda reader, value: layout_of(value), "as_memory_format": lambda reader, value: FORMATS.get(value),
    "as_complex": lambda reader, value: complex(value["real"], value["imag"]),
    "as_int_lists": lambda reader, value: [list(one) for one in value],
    "as_float_lists": lambda reader, value: [list(map(float, one)) for one in value],
}


def _placed(target, inputs, read):
    """Return positional arguments and those by name of a call in a file that does not tell them apart."""
    by_name = {one.name for one in getattr(target._schema, "arguments", ()) if one.kwarg_only}
    return (tuple(read(one["arg"]) for one in inputs if one["name"] not in by_name),
            {one["name"]: read(one["arg"]) for one in inputs if one["name"] in by_name})


def _target(word):
    """Return what a name of a file stands for, or raise FileError."""
    from dragon.vm.torch._ops import namespace
    parts = word.split(".")
    try:
        if word.startswith("torch.ops.") and len(parts) == 5 and all(part.isidentifier() for part in parts):
            return getattr(getattr(namespace(parts[2]), parts[3]), parts[4])
        if word.startswith("torch.ops.higher_order.") and len(parts) == 4:
            return getattr(namespace("higher_order"), parts[3])
        if parts[0] == "_operator" and len(parts) == 2 and parts[1] in (*NUMBERS_OPERATORS, "getitem"):
            return getattr(operator, parts[1])
        if word in ("math.trunc", "torch.sym_float", "torch.sym_int"):
            return _NUMBERS[word]
    except AttributeError:
        pass
    raise FileError(f"torch.export.load: the file calls {word!r}, which Dragon does not have")


_NUMBERS = {"math.trunc": int, "torch.sym_float": float, "torch.sym_int": int}


def _stack(text):
    found = {}
    for part in (text or "").split(";"):
        words = part.split(",")
        if len(words) >= 3:
            found[words[0]] = words[1], words[2]
    return found


def fake(words):
    """Return a tensor without numbers from what a file says of one."""
    from dragon.vm import torch
    made = FakeTensor.like(torch.empty((), dtype=dtype_of(words["dtype"])), tuple(map(size_in, words["sizes"])))
    made.stands_for = words["requires_grad"]
    return made


# --- signatures

def _argument(words):
    (kind, value), = words.items()
    if kind == "as_tensor":
        return signatures.TensorArgument(value["name"])
    made = {"as_sym_int": signatures.SymIntArgument, "as_sym_float": signatures.SymFloatArgument,
            "as_sym_bool": signatures.SymBoolArgument}.get(kind)
    if made is not None and "as_name" in value:
        return made(value["as_name"])
    return ConstantArgument("", None if kind == "as_none" else _plain(kind, value))


def _plain(kind, value):
    return {"as_float": float, "as_int": int, "as_bool": bool, "as_string": str}.get(kind, lambda item: item)(value)


def _input_spec(words):
    (kind, value), = words.items()
    if kind == "constant_input":
        (inner, constant), = value["value"].items()
        return InputSpec(InputKind.USER_INPUT, ConstantArgument(value["name"], _constant(inner, constant)), None)
    if kind == "user_input":
        return InputSpec(InputKind.USER_INPUT, _argument(value["arg"]), None)
    named = {"parameter": (InputKind.PARAMETER, "parameter_name"), "buffer": (InputKind.BUFFER, "buffer_name"),
             "tensor_constant": (InputKind.CONSTANT_TENSOR, "tensor_constant_name")}
    if kind not in named:
        raise FileError(f"torch.export.load: got an input that is a {kind}, expected parameters, buffers and tensors")
    what, target = named[kind]
    return InputSpec(what, signatures.TensorArgument(value["arg"]["name"]), value[target], value.get("persistent"))


def _constant(kind, value):
    return None if kind == "as_none" else _plain(kind, value)


def _output_spec(words):
    (kind, value), = words.items()
    kinds = {"user_output": (OutputKind.USER_OUTPUT, None), "loss_output": (OutputKind.LOSS_OUTPUT, None),
             "buffer_mutation": (OutputKind.BUFFER_MUTATION, "buffer_name"),
             "parameter_mutation": (OutputKind.PARAMETER_MUTATION, "parameter_name"),
             "user_input_mutation": (OutputKind.USER_INPUT_MUTATION, "user_input_name"),
             "gradient_to_parameter": (OutputKind.GRADIENT_TO_PARAMETER, "parameter_name"),
             "gradient_to_user_input": (OutputKind.GRADIENT_TO_USER_INPUT, "user_input_name")}
    if kind not in kinds:
        raise FileError(f"torch.export.load: got an output that is a {kind}, expected results and what is written")
    what, target = kinds[kind]
    arg = value["arg"]
    arg = _argument(arg) if kind == "user_output" else signatures.TensorArgument(arg["name"])
    return OutputSpec(what, arg, value[target] if target else None)


def _call_entry(words):
    signature = words.get("signature")
    if signature is None:
        return ModuleCallEntry(words["fqn"])
    return ModuleCallEntry(words["fqn"], ModuleCallSignature(
        list(map(_argument, signature["inputs"])), list(map(_argument, signature["outputs"])),
        pytree.treespec_loads(signature["in_spec"]), pytree.treespec_loads(signature["out_spec"]),
        signature.get("forward_arg_names")))


# --- tensors

def _tensors(archive, folder, config):
    """Return {name: tensor} of what a folder of the archive holds."""
    from dragon.vm import torch
    if f"{folder}{config}" not in archive:
        return {}
    entries, found, shared = json.loads(bytes(archive.read(f"{folder}{config}")))["config"], {}, {}
    for name, words in entries.items():
        meta, path = words["tensor_meta"], words["path_name"]
        data = archive.read(f"{folder}{path}")
        if words.get("use_pickle"):
            found[name] = torch.load(io.BytesIO(bytes(data)), weights_only=True)
            continue
        key = path, json.dumps(meta)
        if key not in shared:
            shared[key] = _tensor(bytearray(data), meta, name, words["is_param"])
        found[name] = shared[key]
    return found


def _tensor(data, meta, name, is_parameter):
    from dragon.vm import torch
    kind = dtype_of(meta["dtype"])
    sizes, strides = [size["as_int"] for size in meta["sizes"]], [size["as_int"] for size in meta["strides"]]
    offset, count = meta["storage_offset"]["as_int"], len(data) // max(kind.itemsize, 1)
    last = offset + sum((size - 1) * step for size, step in zip(sizes, strides)) if 0 not in sizes else -1
    if min([*sizes, *strides, offset], default=0) < 0 or last >= count:
        raise FileError(f"torch.export.load: got {len(data)} bytes for {name!r}, expected enough for {sizes} {kind}")
    if 0 in sizes:
        made = torch.empty(sizes, dtype=kind)
    else:
        made = torch.frombuffer(data, dtype=kind).as_strided(sizes, strides, offset).clone()
    if is_parameter:
        return Parameter(made, requires_grad=meta["requires_grad"])
    return made.requires_grad_(True) if meta["requires_grad"] else made


def load_program(file, extra_files=None, expected_opset_version=None):
    """Return the program of a file.

    Parameters
    ----------
    file : Union[str, os.PathLike, BinaryIO]
        The file.
    extra_files : Optional[Dict[str, Any]]
        Names of further texts, which are filled in.
    expected_opset_version : Optional[Dict[str, int]]
        Accepted: operators are known by their schemas.

    Returns
    -------
    ExportedProgram
        The program.

    Raises
    ------
    FileError
        The file is none, or is damaged, or calls what is not here.

    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as place:
            return load_program(place, extra_files, expected_opset_version)
    try:
        archive = ArchiveReader(file)
        if "archive_format" not in archive or bytes(archive.read("archive_format")) != b"pt2":
            raise FileError("torch.export.load: got an archive of another kind, expected a .pt2 file that "
                            "torch.export.save wrote")
        for key in extra_files or {}:
            extra_files[key] = bytes(archive.read(f"extra/{key}")).decode()
        return _program(archive)
    except FileError:
        raise
    except (Corrupt, KeyError, ValueError, TypeError, AttributeError, IndexError, UnicodeDecodeError,
            RecursionError) as error:
        raise FileError(f"torch.export.load: the file is damaged or of another kind ({type(error).__name__}: "
                        f"{error})") from error


def _program(archive):
    from dragon.vm import torch
    words = json.loads(bytes(archive.read("models/model.json")))
    version = words["schema_version"]["major"]
    if version != MAJOR:
        raise FileError(f"torch.export.load: got version {version} of the format, expected {MAJOR}")
    module = words["graph_module"]
    signature = signatures.ExportGraphSignature(list(map(_input_spec, module["signature"]["input_specs"])),
                                                list(map(_output_spec, module["signature"]["output_specs"])))
    reader = _GraphReader(module["graph"])
    graph = reader.read(signature)
    state = _tensors(archive, "data/weights/", "model_weights_config.json")
    constants = _tensors(archive, "data/constants/", "model_constants_config.json")
    ranges = {Expression.symbol(name): ValueRanges(
        -OPEN if bounds["min_val"] is None else bounds["min_val"],
        OPEN if bounds["max_val"] is None else bounds["max_val"])
        for name, bounds in words["range_constraints"].items()}
    samples = None
    if "data/sample_inputs/model.pt" in archive:
        data = bytes(archive.read("data/sample_inputs/model.pt"))
        try:
            samples = torch.load(io.BytesIO(data), weights_only=True) if data else None
        except pickle.UnpicklingError:  # of classes that nobody allowed; the program needs no example
            samples = None
    program = ExportedProgram(reader.modules, graph, signature, state, ranges,
                              list(map(_call_entry, module["module_call_graph"])), samples, constants)
    program.validate()
    return program
