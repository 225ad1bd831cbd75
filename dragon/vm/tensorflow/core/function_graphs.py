"""`ConcreteFunction.graph`: a function as TensorFlow's operations, to be looked at and handed on as a `GraphDef`."""
from dragon.vm.shared import nest
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.shared.files.tensor_proto import TensorShapeProto
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.tensorflow.core.saved_model import messages
from dragon.vm.tensorflow.core.saved_model.node import Node
from dragon.vm.tensorflow.core.saved_model.table import results_of
from dragon.vm.tensorflow.core.saved_model.writing.builder import attribute
from dragon.vm.tensorflow.core.saved_model.writing.encoding import set_shape

# How TensorFlow's Python functions call their operators; the operator's own name elsewhere.
WORDS = {"AddV2": "add", "Mul": "mul", "Sub": "sub", "RealDiv": "truediv", "Pow": "pow", "ConcatV2": "concat",
         "Cumsum": "Cumsum", "Transpose": "transpose", "StridedSlice": "strided_slice", "Split": "split"}

TRUTHS = frozenset("Less LessEqual Greater GreaterEqual Equal NotEqual LogicalAnd LogicalOr LogicalNot IsNan IsInf All "
                   "Any".split())

DOERS = frozenset("AssignVariableOp PrintV2 Assert".split())  # of no result
LISTED = {"If": "Tout", "StatelessIf": "Tout", "While": "T", "StatelessWhile": "T"}  # what lists dtypes of results
FIXED = {"StringFormat": "string", **dict.fromkeys(("TensorListReserve", "TensorListSetItem", "TensorListFromTensor"),
                                                   "variant")}

NodeDef = make_message(
    "NodeDef", "A call of an operator.", name=Field(1, "string"), op=Field(2, "string"),
    input=Field(3, "string", True), device=Field(4, "string"), attr=Field(5, messages.AttrValue, mapped=True))
GraphDef = make_message("GraphDef", "Nodes, and the functions that they call.", node=Field(1, NodeDef, True),
                        library=Field(2, messages.Library), versions=Field(4, messages.Versions))


@known_as("tensorflow")
class GraphTensor:
    """A result of an operation of a graph: it has no numbers.

    Parameters
    ----------
    op : Operation
        Of which it is a result.
    value_index : int
        Which one.
    dtype : DType
        Its dtype.
    shape : TensorShape
        Its shape, as far as it is known.

    """

    def __init__(self, op, value_index, dtype, shape):
        self.op, self.value_index, self.dtype, self.shape = op, value_index, dtype, shape

    name = property(lambda self: f"{self.op.name}:{self.value_index}", doc="str: the operation and the number.")
    graph = property(lambda self: self.op.graph, doc="FuncGraph: where it belongs.")

    def consumers(self):
        """Return the operations that take it."""
        return [one for one in self.graph.get_operations() if any(source is self for source in one.inputs)]

    def numpy(self):
        """Refuse: there are no numbers."""
        raise AttributeError(f"numpy: got {self!r}, which has no numbers; call the function")

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self):
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'


@known_as("tensorflow")
class Operation:
    """A node of a graph.

    Parameters
    ----------
    graph : FuncGraph
        Where it belongs.
    node_def : NodeDef
        Its operator and attributes.
    inputs : Sequence[GraphTensor]
        What it takes.

    """

    def __init__(self, graph, node_def, inputs):
        self.graph, self.node_def, self.inputs = graph, node_def, tuple(inputs)
        self.outputs, self.control_inputs = [], []
        pairs = [messages.NamedAttr(key=key, value=value) for key, value in node_def.attr.items()]
        self._node = Node(messages.NodeDef(name=node_def.name, op=node_def.op, attr=pairs), None, graph.name)

    name = property(lambda self: self.node_def.name, doc="str: the name, which no other has.")
    type = property(lambda self: self.node_def.op, doc="str: the operator.")
    device = property(lambda self: "", doc="str: where it must run; anywhere.")

    def get_attr(self, name):
        """Return an attribute by its name: dtypes as `DType`, texts as bytes, shapes and tensors as messages."""
        if name not in self.node_def.attr:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        value = self.node_def.attr[name]
        kind = value.WhichOneof("value")
        found = getattr(value, kind)
        if kind == "type":
            return as_dtype(found)
        if kind != "list":
            return found
        parts = next((list(getattr(found, part)) for part in ("s", "i", "f", "b", "type", "shape", "tensor")
                      if len(getattr(found, part))), [])
        return [as_dtype(one) for one in parts] if len(found.type) else parts

    def values(self):
        """Return the results."""
        return tuple(self.outputs)

    def __repr__(self):
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self):
        return str(self.node_def)


@known_as("tensorflow")
class Graph:
    """The base of graphs of functions; none can be made by hand, as calls run at once."""

    def __new__(cls, *args, **kwargs):
        """Return a graph of a function."""
        if cls is Graph:
            raise RuntimeError("tf.Graph: Dragon runs TensorFlow 2, which computes at once; tf.function(f)."
                               "get_concrete_function(...).graph is the graph of a function")
        return super().__new__(cls)


@known_as("tensorflow")
class FuncGraph(Graph):
    """A function as operations: placeholders for its arguments and variables, and an `Identity` for each result.

    Parameters
    ----------
    concrete : ConcreteFunction
        The function.

    """

    building_function, finalized, seed = True, False, None

    def __init__(self, concrete):
        from dragon.vm.tensorflow.core.saved_model.saving import GRAPH_VERSION
        from dragon.vm.tensorflow.core.saved_model.writing.trace import SavedTrace
        self.name, self._version, self._names = concrete.name, GRAPH_VERSION, {}
        weights = {f"variable_{place}": one for place, one in enumerate(concrete.variables)}
        self.structured_input_signature = args, kwargs = concrete.structured_input_signature
        wanted = nest.flatten((args, kwargs))

        def call(*args, **kwargs):
            return concrete.traced(*(value for spec, value in zip(wanted, nest.flatten((args, kwargs)))
                                     if isinstance(spec, TensorSpec)))
        made = SavedTrace(concrete.name, call, args, kwargs, weights)
        self.function_def = made.definition
        self._operations, self._by_name, self._captured, ends = [], {}, [], {}
        self._library = messages.Library(function=[one.SerializeToString() for one in made.definitions[1:]])
        specs, variables = iter(concrete.inputs), iter(made.variables)
        for argument in made.definition.signature.input_arg:
            ends[argument.name] = [self._add_argument(argument, specs, variables)]
        self.inputs, self._own = [one.outputs[0] for one in self._operations], {}
        for node in made.definition.node_def:
            self._translate(node, ends)
        self.outputs = [_find(pair.value, ends) for pair in made.definition.ret]
        for tensor, spec in zip(self.outputs, nest.flatten(made.outputs)):
            tensor.shape = spec.shape
        left = iter(self.outputs)
        self.structured_outputs = nest.map_structure(
            lambda spec: next(left) if isinstance(spec, TensorSpec) else spec, made.outputs)

    def _add_argument(self, argument, specs, variables):
        """Add a placeholder for a tensor or a variable; returns its result."""
        dtype = as_dtype(argument.type)
        if dtype.name == "resource":
            shape, name = TensorShape([]), "ReadVariableOp/resource"
        else:
            spec = next(specs)
            shape, name = spec.shape, spec.name
        proto = messages.AttrValue(shape=TensorShapeProto())
        set_shape(proto.shape, shape)
        node = self._node("Placeholder", name, [])
        node.attr["dtype"], node.attr["shape"] = attribute(dtype), proto
        tensor = self._add(node, [], [dtype], shape)[0]
        if dtype.name == "resource":
            self._captured.append((next(variables), tensor))
        return tensor

    def _node(self, op, name, inputs):
        """Return the message of a node, whose name no other has."""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return NodeDef(name=name if count == 0 else f"{name}_{count}", op=op, input=inputs)

    def _add(self, node, inputs, dtypes, shape=None):
        """Add an operation; returns its results."""
        made = Operation(self, node, inputs)
        made.outputs = [GraphTensor(made, place, dtype, TensorShape(shape)) for place, dtype in enumerate(dtypes)]
        self._operations.append(made)
        self._by_name[made.name] = made
        return made.outputs

    def _translate(self, node, ends):
        """Add what a node of a function says; `ends` has the results of those before it."""
        sources = [_find(text, ends) for text in node.input if not text.startswith("^")]
        before = [self._own[text[1:]] for text in node.input if text.startswith("^")]
        made = self._node(node.op, WORDS.get(node.op, node.op),
                          [*map(_as_input, sources), *(f"^{name}" for name in before)])
        self._own[node.name] = made.name
        for pair in node.attr:
            made.attr[pair.key] = pair.value
        shape = made.attr["value"].tensor.tensor_shape if node.op == "Const" else None
        ends[node.name] = self._add(made, sources, _dtypes_of(node.op, made.attr, sources),
                                    None if shape is None else [dim.size for dim in shape.dim])
        self._by_name[made.name].control_inputs = [self._by_name[name] for name in before]

    # --- what users ask

    def get_operations(self):
        """Return all operations, each after those that it needs."""
        return list(self._operations)

    def get_operation_by_name(self, name):
        """Return an operation."""
        if name not in self._by_name:
            raise KeyError(f"The name '{name}' refers to an Operation not in the graph.")
        return self._by_name[name]

    def get_tensor_by_name(self, name):
        """Return a result by the name of its operation and its number, as "add:0"."""
        first, mark, number = name.partition(":")
        if not mark or not number.isdigit():
            raise ValueError(f"The name '{name}' refers to an Operation, not a Tensor. Tensor names must be of the "
                             'form "<op_name>:<output_index>".')
        if first not in self._by_name:
            raise KeyError(f"The name '{name}' refers to a Tensor which does not exist. The operation, '{first}', does "
                           "not exist in the graph.")
        outputs = self._by_name[first].outputs
        if int(number) >= len(outputs):
            raise KeyError(f"The name '{name}' refers to a Tensor which does not exist. The operation, '{first}', "
                           f"exists but only has {len(outputs)} outputs.")
        return outputs[int(number)]

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """Return an operation or result by its name."""
        name = obj if isinstance(obj, str) else obj.name
        if ":" in name and allow_tensor:
            return self.get_tensor_by_name(name)
        if allow_operation:
            return self.get_operation_by_name(name)
        raise ValueError(f"as_graph_element: got '{name}', expected the name of a tensor such as '{name}:0'")

    def as_graph_def(self, from_version=None, add_shapes=False):
        """Return the operations as a message, whose bytes TensorFlow imports.

        Parameters
        ----------
        from_version : int, optional
            Not used: a graph does not change.
        add_shapes : bool, optional, default=False
            Not used: shapes are those of the placeholders.

        Returns
        -------
        GraphDef
            The message.

        """
        made = GraphDef(node=[one.node_def for one in self._operations], library=self._library)
        made.versions.producer = self._version
        return made

    captures = property(lambda self: list(self._captured),
                        doc="List[Tuple[Variable, GraphTensor]]: what is read, and its placeholder.")
    external_captures = property(lambda self: [one for one, _ in self._captured], doc="List[Variable]: what is read.")
    internal_captures = property(lambda self: [one for _, one in self._captured],
                                 doc="List[GraphTensor]: the placeholders of what is read.")
    variables = property(lambda self: tuple(self.external_captures), doc="Tuple[Variable, ...]: what is read.")
    trainable_variables = property(lambda self: tuple(one for one in self.variables if one.trainable),
                                   doc="Tuple[Variable, ...]: those that tapes watch by themselves.")

    def __repr__(self):
        return f"FuncGraph(name={self.name}, id={id(self)})"


def _find(text, ends):
    """Return the result that a function's node calls "node:result:number", or an argument by its name."""
    name, *rest = text.split(":")
    outputs = ends[name]
    if not rest:
        return outputs[0]
    results = results_of(outputs[0].op.type)
    if results:
        return outputs[results.index(rest[0])]
    return outputs[int(rest[1])]


def _as_input(tensor):
    return tensor.op.name if tensor.value_index == 0 else tensor.name


def _dtypes_of(op, attributes, sources):
    """Return the dtypes of an operator's results."""
    if op in DOERS:
        return []
    if op in LISTED:
        return [as_dtype(one) for one in attributes[LISTED[op]].list.type]
    if op in FIXED:
        return [as_dtype(FIXED[op])]
    further = {"TopKV2": "int32", "MaxPoolWithArgmax": "int64"}.get(op)
    count = attributes["num_split"].i if "num_split" in attributes else 1
    return [_dtype_of(op, attributes, sources)] * count + ([as_dtype(further)] if further else [])


def _dtype_of(op, attributes, sources):
    """Return the dtype of an operator's results, which are all alike."""
    if op in TRUTHS:
        return as_dtype("bool")
    names = ("DstT", "element_dtype", "dtype", "out_type", "output_type", "T", "Tparams", "Tidx")
    kind = next((attributes[name].type for name in names if name in attributes), None)
    return sources[0].dtype if kind is None else as_dtype(kind)
