"""Nodes of ONNX as TensorFlow's: the export to ONNX knows what the engine's operators are, dynamic sizes included."""
from dragon import _C
from dragon.vm.shared.errors import UnimplementedError
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import Builder, End
from dragon.vm.tensorflow.core.saved_model.writing.rows import handler_of

DTYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
          10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16"}
HANDLERS = {}
STRING = as_dtype("string")


def handles(*names):
    """Return a decorator for functions that write nodes of these kinds."""
    def decorate(function):
        HANDLERS.update(dict.fromkeys(names, function))
        return function
    return decorate


class Call:
    """A node of ONNX: operands as values, attributes as Python's.

    Parameters
    ----------
    node : onnx.NodeProto
        The node.
    ends : Sequence[Optional[End]]
        Its operands.
    shapes : Sequence[Optional[List[int]]]
        Their sizes, as far as they are known.
    around : Dict[str, Optional[End]]
        What graphs among the attributes may read.

    """

    def __init__(self, node, ends, shapes, around):
        from onnx import helper
        self.around = around
        self.op, self.ends, self.shapes, self.count = node.op_type, ends, shapes, len(node.output)
        self.attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}

    def get(self, name, default=None):
        """Return an attribute."""
        found = self.attributes.get(name, default)
        return found.decode() if isinstance(found, bytes) else found

    def end(self, place):
        """Return an operand, or None."""
        return self.ends[place] if place < len(self.ends) else None

    def numbers(self, place, default=None):
        """Return an operand that must be known."""
        found = self.end(place)
        if found is None:
            return default
        if found.number is None:
            raise self.refusal("with numbers that are known at run time only")
        return found.number.tolist()

    def refusal(self, what="is not supported"):
        """Return the error for a node that cannot be written."""
        return UnimplementedError(None, None, f"saved_model.save: operator {self.op} {what}; export to ONNX instead")


def read_by(node):
    """Return the names of what a node and graphs within it read."""
    inner = [name for one in node.attribute if one.HasField("g") for name in names_outside(one.g)]
    return [*node.input, *inner]


def names_outside(graph):
    """Return the names that a graph of ONNX reads of the graphs around it, in order."""
    made, found = {one.name for one in [*graph.input, *graph.initializer]} | {""}, {}
    for node in graph.node:
        found.update(dict.fromkeys(name for name in read_by(node) if name not in made))
        made.update(node.output)
    found.update(dict.fromkeys(info.name for info in graph.output if info.name not in made))
    return list(found)


class Translation:
    """A graph of ONNX as nodes, in the making.

    Parameters
    ----------
    b : Builder
        Where they go.
    graph : onnx.GraphProto
        The graph.
    values : Dict[str, Optional[End]]
        What is known by name; all that is made is added.

    """

    def __init__(self, b, graph, values):
        self.b, self.graph, self.values = b, graph, values
        told = [*graph.value_info, *graph.output]
        self._ranks = {info.name: len(info.type.tensor_type.shape.dim) for info in told
                       if info.type.tensor_type.HasField("shape")}
        self._kinds = {info.name: info.type.tensor_type.elem_type for info in told}
        self._shapes = {info.name: [dim.dim_value for dim in info.type.tensor_type.shape.dim]
                        for info in graph.value_info}
        self._shapes.update((one.name, list(one.dims)) for one in graph.initializer)

    def results(self):
        """Write all nodes; return what the graph returns."""
        from onnx import numpy_helper
        for one in self.graph.initializer:
            if one.name not in self.values:
                self.values[one.name] = self.b.constant(numpy_helper.to_array(one), DTYPES[one.data_type])
        waiting = []
        for node in self.graph.node:
            waiting = self._write_ready([*waiting, node])
        if waiting:
            raise UnimplementedError(None, None, "saved_model.save: got a size that is known when the function runs "
                                     "alone, and that another branch, round or function asks for; return it from there")
        return [self.values[info.name] for info in self.graph.output]

    def _write_ready(self, nodes):
        """Write nodes but for those that wait for a size that a later one has; return these."""
        left = []
        for node in nodes:
            source = self.values.get(node.input[0]) if node.input else None
            waits = isinstance(source, Free) and source.which not in self.b.free
            if waits or left and not all(name in self.values for name in read_by(node)):
                left.append(node)
            else:
                self._write(node)
        return left

    def _write(self, node):
        values = self.values
        call = Call(node, [values[source] for source in node.input], [self._shapes.get(one) for one in node.input],
                    values)
        answer = next((end for end in call.ends if getattr(end, "note", None) is not None), None)
        handler = HANDLERS.get(f"{node.domain}.{node.op_type}") if node.domain else (
            handler_of(node.op_type) or HANDLERS.get(node.op_type))
        if handler is None:
            raise call.refusal()
        # A seed that was made of an answer stands for it.
        made = answer if answer is not None and not node.domain else handler(self.b, call)
        for label, end in zip(node.output, made if isinstance(made, (list, tuple)) else [made]):
            if end.dtype is not STRING and getattr(end, "note", None) is None:
                end.rank = self._ranks.get(label, end.rank)
                if label in self._kinds and as_dtype(DTYPES.get(self._kinds[label], "float32")) is not end.dtype:
                    end = cast(self.b, end, DTYPES[self._kinds[label]])
            values[label] = end


class Free(End):
    """An input of ONNX that has a size alone, which a result of a note has when the function runs.

    Parameters
    ----------
    which : int
        The number of the size.

    """

    __slots__ = ("which",)

    def __init__(self, which):
        super().__init__("", as_dtype("bool"), 1)
        self.which = which


class Translated:
    """A function of TensorFlow's nodes.

    Parameters
    ----------
    definitions : List[FunctionDef]
        The function, and those that it calls.
    taken : List[str]
        The names of the variables that it takes after its arguments.
    dtypes : List[DType]
        Of its results.
    tables : List[WrittenTable]
        The tables that it takes after the variables.

    """

    def __init__(self, definitions, taken, dtypes, tables):
        self.definitions, self.taken, self.dtypes, self.tables = definitions, taken, dtypes, tables


def translate(model, name, variables, count, written=(), notes=(), texts=(), free=()):
    """Return a function of TensorFlow's nodes.

    Parameters
    ----------
    model : onnx.ModelProto
        The function as ONNX's nodes.
    name : str
        The function's name.
    variables : Dict[str, Variable]
        {name of an initializer: variable}
    count : int
        How many results it has.
    written : Sequence[str], optional
        The variables that it sets; what they are set to comes behind the results.
    notes : Sequence[Note], optional
        What it does and computes besides the engine's operators.
    texts : Sequence[str], optional
        The inputs that are strings.
    free : Sequence[str], optional
        The inputs that have a size alone.

    Returns
    -------
    Translated
        The function.

    """
    from onnx import shape_inference
    model = shape_inference.infer_shapes(model)
    b, graph, values, taken = Builder(name, notes=notes), model.graph, {"": None}, []
    known = {one.name: one for one in graph.initializer}
    values.update((one, Free(number)) for number, one in enumerate(free))
    for place, info in enumerate(one for one in graph.input if one.name not in known and one.name not in values):
        kind = info.type.tensor_type
        dtype = STRING if info.name in texts else DTYPES[kind.elem_type]
        values[info.name] = b.argument(f"input_{place}", dtype, len(kind.shape.dim))
    for one in [key for key in known if key in variables] + [key for key in written if key not in known]:
        taken.append(one)
        dtype = DTYPES[known[one].data_type] if one in known else _C.Tensor.dtype.__get__(variables[one]).name
        values[one] = b.read(f"variable_{len(taken)}", dtype, len(variables[one].shape))
    tables = list(dict.fromkeys(note.details["table"] for note in notes if note.kind == "lookup"))
    b.tables = {table: b.argument(f"table_{place}", "resource") for place, table in enumerate(tables)}
    results = Translation(b, graph, values).results()
    results, finals = results[:count], results[count:]
    again = {end.text: b.write(f"variable_{taken.index(one) + 1}", end) for one, end in zip(written, finals)}
    results = [again.get(end.text) or b.unary("Identity", end) for end in results]
    for place, end in enumerate(results):
        b.result(f"output_{place}", end)
    return Translated([b.definition, *b.library], taken, [end.dtype for end in results], tables)


def cast(b, x, dtype):
    """Return a value in another dtype."""
    dtype = as_dtype(dtype)
    return x if x.dtype is dtype else b.node("Cast", [x], dtype, x.rank, SrcT=x.dtype, DstT=dtype)
