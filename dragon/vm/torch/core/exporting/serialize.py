"""Save exported programs as .pt2 files, in PyTorch's format."""
import io
import json
import operator
import os

from dragon.vm.torch.core.dtypes import dtype
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.exporting.higher_order import HigherOrderOperator
from dragon.vm.torch.core.exporting.symbols import NUMBERS_OPERATORS, OPEN, SymInt
from dragon.vm.torch.core.exporting.serialized_values import (
    STRIDED, device_words, dtype_number, format_number, number_out, size_out)
from dragon.vm.torch.core.files.archive import ArchiveWriter
from dragon.vm.torch.core.layout import layout, memory_format
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.core.exporting import signatures
from dragon.vm.torch.fx.node import Node
from dragon.vm.torch.nn.parameter import Parameter
from dragon.vm.torch.utils import _pytree as pytree

SCHEMA = {"major": 8, "minor": 20}
OPSET = 10


def tensor_words(tensor, sizes=None, strides=None, offset=0, requires_grad=None):
    """Return what a file says of a tensor beside its numbers."""
    sizes = tuple(tensor.shape) if sizes is None else sizes
    if strides is None:
        strides, step = [], 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step = step * size
    return {"dtype": dtype_number(tensor.dtype), "sizes": list(map(size_out, sizes)),
            "requires_grad": bool(tensor.requires_grad if requires_grad is None else requires_grad),
            "device": device_words(tensor.device), "strides": list(map(size_out, strides)),
            "storage_offset": {"as_int": int(offset)}, "layout": STRIDED}


class _GraphWriter:
    """Says a graph in a file's words."""

    def __init__(self, graph):
        self.graph = graph
        self.tensors, self.ints, self.bools, self.floats = {}, {}, {}, {}

    def words(self, is_single=False):
        """Return the graph; of a graph within, whether its one result stands for itself."""
        inputs = [self._argument(node) if _is_open(node.meta.get("val")) else self._constant(node.meta.get("val"))
                  for node in self.graph.nodes if node.op == "placeholder"]
        nodes = [self._node(node) for node in self.graph.nodes if node.op == "call_function" and not _is_part(node)]
        results = self.graph.output_node().args[0]
        return {"inputs": inputs, "outputs": [self._argument(value) for value in results], "nodes": nodes,
                "tensor_values": self.tensors, "sym_int_values": self.ints, "sym_bool_values": self.bools,
                "is_single_tensor_return": is_single, "custom_obj_values": {}, "sym_float_values": self.floats}

    def _constant(self, value):
        return self._argument(value)

    def _name(self, node):
        """Enter what is known of a node's value, and return its name."""
        value = node.meta.get("val")
        if isinstance(value, Tensor):
            self.tensors[node.name] = tensor_words(value, requires_grad=getattr(value, "stands_for", False))
        elif isinstance(value, float):
            self.floats[node.name] = {"as_float": number_out(value)}
        elif isinstance(value, bool):
            self.bools[node.name] = {"as_bool": value}
        elif isinstance(value, (int, SymInt)):
            self.ints[node.name] = size_out(value)
        return node.name

    def _argument(self, value, kind=""):
        """Return an argument."""
        kind = kind.rstrip("?")
        if isinstance(value, Node) and value.op == "get_attr":
            return self._graph(value)
        if isinstance(value, Node):
            name, known = self._name(value), value.meta.get("val")
            if isinstance(known, Tensor):
                return {"as_tensor": {"name": name}}
            if isinstance(known, float):
                return {"as_sym_float": {"as_name": name}}
            return {"as_sym_bool" if isinstance(known, bool) else "as_sym_int": {"as_name": name}}
        if value is None:
            return {"as_none": True}
        for kinds, word, read in _PLAIN:
            if isinstance(value, kinds):
                return {word: read(value)}
        if isinstance(value, (list, tuple)):
            return self._list(list(value), kind)
        raise NotImplementedError(f"torch.export.save: got a {type(value).__name__} among a node's arguments, expected "
                                  "tensors, numbers, strs, dtypes, devices and lists of them")

    @staticmethod
    def _graph(node):
        """Return a graph that an operator takes."""
        module = getattr(node.graph.owning_module, node.target)
        user = next(iter(node.users))
        is_single = user.target.__name__ == "while_loop" and user.args[0] is node  # a truth value, and no tuple of one
        return {"as_graph": {"name": node.target, "graph": _GraphWriter(module.graph).words(is_single)}}

    def _list(self, value, kind):
        nodes = [item for item in value if isinstance(item, Node)]
        if any(isinstance(node.meta.get("val"), Tensor) for node in nodes) or kind.startswith("Tensor"):
            if any(isinstance(node.meta.get("val"), (int, float, SymInt)) for node in nodes):
                raise NotImplementedError("torch.export.save: got tensors and numbers in one list of operands, "
                                          "expected tensors")
            if any(item is None for item in value) or kind.startswith("Tensor?"):
                return {"as_optional_tensors": [
                    {"as_none": True} if item is None else {"as_tensor": {"name": self._name(item)}} for item in value]}
            return {"as_tensors": [{"name": self._name(item)} for item in value]}
        if nodes:
            return {"as_sym_ints": [{"as_name": self._name(item)} if isinstance(item, Node) else {"as_int": int(item)}
                                    for item in value]}
        if value and all(isinstance(item, bool) for item in value):
            return {"as_bools": value}
        if all(isinstance(item, int) for item in value):
            return {"as_ints": value} if value or "float" not in kind else {"as_floats": []}
        if all(isinstance(item, (int, float)) for item in value):
            return {"as_floats": [number_out(float(item)) for item in value]}
        if all(isinstance(item, str) for item in value):
            return {"as_strings": value}
        raise NotImplementedError(f"torch.export.save: got the list {value!r} among a node's arguments, expected items "
                                  "of one kind")

    def _node(self, node):
        target = node.target
        if hasattr(target, "overloadpacket"):
            names = target._schema.arguments if hasattr(target._schema, "arguments") else ()
            word = f"torch.ops.{target}"
        elif target in _OPERATORS:
            names, word = (), _OPERATORS[target]
        elif isinstance(target, HigherOrderOperator):
            inputs = [{"name": "", "arg": self._argument(value, "Tensor[]"), "kind": 1} for value in node.args]
            return {"target": f"torch.ops.higher_order.{target.__name__}", "inputs": inputs,
                    "outputs": self._outputs(node), "metadata": self._metadata(node),
                    "is_hop_single_tensor_return": False, "name": node.name}
        else:
            raise NotImplementedError(f"torch.export.save: got a call of {getattr(target, '__name__', target)} in the "
                                      "graph, expected operators")
        inputs = [{"name": names[place].name if place < len(names) else "ab"[place] if not names else f"arg_{place}",
                   "arg": self._argument(value, names[place].type if place < len(names) else ""), "kind": 1}
                  for place, value in enumerate(node.args)]
        kinds = {one.name: one.type for one in names}
        inputs += [{"name": name, "arg": self._argument(value, kinds.get(name, "")), "kind": 2}
                   for name, value in node.kwargs.items()]
        return {"target": word, "inputs": inputs, "outputs": self._outputs(node), "metadata": self._metadata(node),
                "is_hop_single_tensor_return": None, "name": node.name}

    def _outputs(self, node):
        value = node.meta.get("val")
        if value is None:
            return []
        if not isinstance(value, (list, tuple)):
            return [self._argument(node)]
        names = {user.args[1]: self._name(user) for user in node.users if _is_part(user)}
        made = []
        for place, item in enumerate(value):
            name = names.get(place, f"{node.name}_unused_{place}")
            if place not in names and isinstance(item, Tensor):
                self.tensors[name] = tensor_words(item)
            made.append({"name": name})
        schema = getattr(node.target, "_schema", None)
        if schema is not None and len(schema.returns) == 1 and schema.returns[0].type.endswith("[]"):
            return [{"as_tensors": made}]
        return [{"as_tensor": one} for one in made]

    @staticmethod
    def _metadata(node):
        words = {}
        stack = node.meta.get("nn_module_stack") or {}
        if stack:
            words["nn_module_stack"] = ";".join(
                f"{key},{path},{kind if isinstance(kind, str) else f'{kind.__module__}.{kind.__qualname__}'}"
                for key, (path, kind) in stack.items())
        if node.meta.get("stack_trace"):
            words["stack_trace"] = node.meta["stack_trace"]
        return words


_PLAIN = ((bool, "as_bool", bool), (int, "as_int", int), (float, "as_float", number_out), (str, "as_string", str),
          (dtype, "as_scalar_type", dtype_number), (memory_format, "as_memory_format", format_number),
          (layout, "as_layout", lambda value: STRIDED), (device, "as_device", device_words),
          (complex, "as_complex", lambda value: {"real": value.real, "imag": value.imag}))
_OPERATORS = {getattr(operator, name): f"_operator.{name}" for name in NUMBERS_OPERATORS}


def _is_open(value):
    return isinstance(value, (Tensor, SymInt))


def _is_part(node):
    return node.target is operator.getitem and isinstance(node.args[0].meta.get("val"), (list, tuple))


def _input_words(spec):
    kind, arg = spec.kind, {"name": spec.arg.name}
    kinds = signatures.InputKind
    if kind is kinds.PARAMETER:
        return {"parameter": {"arg": arg, "parameter_name": spec.target}}
    if kind is kinds.BUFFER:
        return {"buffer": {"arg": arg, "buffer_name": spec.target, "persistent": spec.persistent}}
    if kind is kinds.CONSTANT_TENSOR:
        return {"tensor_constant": {"arg": arg, "tensor_constant_name": spec.target}}
    if kind is kinds.USER_INPUT and isinstance(spec.arg, signatures.ConstantArgument):
        return {"constant_input": {"name": spec.arg.name, "value": _constant_words(spec.arg.value)}}
    if kind is kinds.USER_INPUT:
        return {"user_input": {"arg": _argument_words(spec.arg)}}
    raise NotImplementedError(f"torch.export.save: got an input of kind {kind.name}, expected parameters, buffers, "
                              "tensors and numbers")


def _constant_words(value):
    if value is None:
        return {"as_none": True}
    for kind, word in ((bool, "as_bool"), (int, "as_int"), (float, "as_float"), (str, "as_string")):
        if isinstance(value, kind):
            return {word: number_out(value)}
    raise NotImplementedError(f"torch.export.save: got the constant {value!r}, expected a number, a str or None")


def _argument_words(arg):
    if isinstance(arg, signatures.ConstantArgument):
        return _constant_words(arg.value)
    if isinstance(arg, signatures.TensorArgument):
        return {"as_tensor": {"name": arg.name}}
    word = {signatures.SymIntArgument: "as_sym_int", signatures.SymFloatArgument: "as_sym_float",
            signatures.SymBoolArgument: "as_sym_bool"}[type(arg)]
    return {word: {"as_name": arg.name}}


def _output_words(spec):
    kinds, arg = signatures.OutputKind, {"name": spec.arg.name}
    named = {kinds.BUFFER_MUTATION: ("buffer_mutation", "buffer_name"),
             kinds.PARAMETER_MUTATION: ("parameter_mutation", "parameter_name"),
             kinds.USER_INPUT_MUTATION: ("user_input_mutation", "user_input_name"),
             kinds.GRADIENT_TO_PARAMETER: ("gradient_to_parameter", "parameter_name"),
             kinds.GRADIENT_TO_USER_INPUT: ("gradient_to_user_input", "user_input_name")}
    if spec.kind in named:
        word, target = named[spec.kind]
        return {word: {"arg": arg, target: spec.target}}
    if spec.kind is kinds.LOSS_OUTPUT:
        return {"loss_output": {"arg": arg}}
    return {"user_output": {"arg": _argument_words(spec.arg)}}


def _call_words(entry):
    signature = entry.signature
    if signature is None:
        return {"fqn": entry.fqn, "signature": None}
    return {"fqn": entry.fqn, "signature": {
        "inputs": list(map(_argument_words, signature.inputs)),
        "outputs": list(map(_argument_words, signature.outputs)),
        "in_spec": pytree.treespec_dumps(signature.in_spec), "out_spec": pytree.treespec_dumps(signature.out_spec),
        "forward_arg_names": signature.forward_arg_names}}


def program_words(program, opset_version=None):
    """Return a program as a file has it, without the numbers of its tensors."""
    ranges = {str(key): {"min_val": None if value.lower == -OPEN else int(value.lower),
                         "max_val": None if value.upper == OPEN else int(value.upper)}
              for key, value in program.range_constraints.items() if len(getattr(key, "terms", {0: 0})) == 1
              and str(key).isidentifier()}
    signature = program.graph_signature
    return {"graph_module": {
        "graph": _GraphWriter(program.graph).words(),
        "signature": {"input_specs": list(map(_input_words, signature.input_specs)),
                      "output_specs": list(map(_output_words, signature.output_specs))},
        "module_call_graph": list(map(_call_words, program.module_call_graph)), "metadata": {},
        "treespec_namedtuple_fields": {}},
        "opset_version": opset_version or {"aten": OPSET}, "range_constraints": ranges, "schema_version": SCHEMA,
        "verifiers": [program.dialect], "torch_version": "2.13.0", "guards_code": []}


def _put_tensors(archive, tensors, folder, prefix, config):
    """Write tensors, each storage once, and what is said of them."""
    entries, places, count = {}, {}, 0
    for name, tensor in tensors.items():
        known = places.get(id(tensor))
        plain = tensor.detach().contiguous()
        if known is None:
            known = places[id(tensor)] = f"{prefix}{count}"
            archive.write(f"{folder}{known}", plain.cpu().view(-1).numpy_bytes() if hasattr(
                plain, "numpy_bytes") else _bytes(plain))
            count += 1
        entries[name] = {"path_name": known, "is_param": isinstance(tensor, Parameter), "use_pickle": False,
                         "tensor_meta": tensor_words(tensor)}
    archive.write(f"{folder}{config}", json.dumps({"config": entries}).encode())


def _bytes(tensor):
    """Return the numbers of a tensor, row by row."""
    from dragon.vm import torch
    flat = tensor.cpu().reshape(-1)
    return bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def save_program(program, file, extra_files=None, opset_version=None):
    """Write a program.

    Parameters
    ----------
    program : ExportedProgram
        The program.
    file : Union[str, os.PathLike, BinaryIO]
        Where.
    extra_files : Optional[Dict[str, Any]]
        Further texts, by name.
    opset_version : Optional[Dict[str, int]]
        The versions of the operators, by namespace.

    """
    from dragon.vm import torch
    words = json.dumps(program_words(program, opset_version)).encode()
    name = os.path.splitext(os.path.basename(os.fspath(file)))[0] if isinstance(file, (str, os.PathLike)) else "archive"
    with torch.serialization._opened(file, "wb") as place:
        archive = ArchiveWriter(place, name or "archive")
        archive.write("archive_format", b"pt2")
        archive.write("archive_version", b"0")
        _put_tensors(archive, program.state_dict, "data/weights/", "weight_", "model_weights_config.json")
        _put_tensors(archive, {key: value for key, value in program.constants.items() if isinstance(value, Tensor)},
                     "data/constants/", "tensor_", "model_constants_config.json")
        archive.write("models/model.json", words)
        samples = io.BytesIO()
        torch.save(program.example_inputs, samples)
        archive.write("data/sample_inputs/model.pt", samples.getvalue())
        for key, text in (extra_files or {}).items():
            archive.write(f"extra/{key}", text.encode() if isinstance(text, str) else bytes(text))
        archive.write(".data/version", b"6\n")
        archive.write("byteorder", b"little")
        archive.write(".data/serialization_id", b"0" * 40)
        archive.close()
