"""The messages of `saved_model.pb`, as far as programs need them.

Field numbers are those of TensorFlow's public .proto files. Functions, nodes and objects stay bytes until somebody asks
for them: of the thousands in a file most are never run.
"""
from dragon.core.wire import DecodeError
from dragon.vm.shared.errors import DataLossError
from dragon.vm.shared.files.messages import make_message
from dragon.vm.shared.files.protobuf import Field
from dragon.vm.shared.files.tensor_proto import TensorProto, TensorShapeProto

_TEXT, _RAW, _WHOLE, _ENUM, _TRUTH = "string", "bytes", "int64", "enum", "bool"


def _pairs(name, kind, key=_TEXT):
    """Return the class of a map's entries, for maps whose keys or values the reader of maps does not know."""
    return make_message(name, "An entry of a map.", key=Field(1, key), value=Field(2, kind))


Versions = make_message("VersionDef", "Who wrote, and who can read.", producer=Field(1, "int32"),
                        min_consumer=Field(2, "int32"))

# --- attributes and nodes
AttrValue = make_message("AttrValue", "An attribute of a node.")
NamedAttr = _pairs("NamedAttr", AttrValue)
NameAttrList = make_message("NameAttrList", "A function's name.", name=Field(1, _TEXT), attr=Field(2, NamedAttr, True))
ListValue = make_message(
    "ListValue", "Several values.", s=Field(2, _RAW, True), i=Field(3, _WHOLE, True), f=Field(4, "float", True),
    b=Field(5, _TRUTH, True), type=Field(6, _ENUM, True), shape=Field(7, TensorShapeProto, True),
    tensor=Field(8, TensorProto, True), func=Field(9, NameAttrList, True))
AttrValue._fields.update(
    list=Field(1, ListValue, oneof="value"), s=Field(2, _RAW, oneof="value"), i=Field(3, _WHOLE, oneof="value"),
    f=Field(4, "float", oneof="value"), b=Field(5, _TRUTH, oneof="value"), type=Field(6, _ENUM, oneof="value"),
    shape=Field(7, TensorShapeProto, oneof="value"), tensor=Field(8, TensorProto, oneof="value"),
    placeholder=Field(9, _TEXT, oneof="value"), func=Field(10, NameAttrList, oneof="value"))
NodeDef = make_message(
    "NodeDef", "A call of an operator.", name=Field(1, _TEXT), op=Field(2, _TEXT), input=Field(3, _TEXT, True),
    device=Field(4, _TEXT), attr=Field(5, NamedAttr, True))

# --- functions
ArgDef = make_message("ArgDef", "A parameter or result.", name=Field(1, _TEXT), type=Field(3, _ENUM),
                      type_attr=Field(4, _TEXT), number_attr=Field(5, _TEXT), type_list_attr=Field(6, _TEXT))
OpDef = make_message("OpDef", "What a function takes and returns.", name=Field(1, _TEXT),
                     input_arg=Field(2, ArgDef, True), output_arg=Field(3, ArgDef, True),
                     is_stateful=Field(17, _TRUTH), control_output=Field(20, _TEXT, True))
Ends = _pairs("Ends", _TEXT)
FunctionDef = make_message("FunctionDef", "A function of nodes.", signature=Field(1, OpDef),
                           node_def=Field(3, NodeDef, True), ret=Field(4, Ends, True), attr=Field(5, NamedAttr, True),
                           control_ret=Field(6, Ends, True))
# The name alone, to know where a function is without reading its nodes.
SignatureName = make_message("SignatureName", "A function's name.", name=Field(1, _TEXT))
FunctionName = make_message("FunctionName", "A function, of which the name is read.", signature=Field(1, SignatureName))
Library = make_message("FunctionDefLibrary", "Functions, and their gradients.", function=Field(1, _RAW, True))
GraphDef = make_message("GraphDef", "The outermost nodes, and functions.", node=Field(1, _RAW, True),
                        library=Field(2, Library), versions=Field(4, Versions))

# --- structures of arguments
Structured = make_message("StructuredValue", "A value of nested Python structures.")
Values = make_message("ListOfValues", "Values.", values=Field(1, Structured, True))
Fields_ = _pairs("FieldOfValues", Structured)
Dict = make_message("DictValue", "Values by name.", fields=Field(1, Fields_, True))
Pair = make_message("PairValue", "A name and a value.", key=Field(1, _TEXT), value=Field(2, Structured))
Named = make_message("NamedTupleValue", "A named tuple.", name=Field(1, _TEXT), values=Field(2, Pair, True))
Spec = make_message("TensorSpecProto", "A TensorSpec.", name=Field(1, _TEXT), shape=Field(2, TensorShapeProto),
                    dtype=Field(3, _ENUM))
TypeSpecProto = make_message(
    "TypeSpecProto", "Another spec.", type_spec_class=Field(1, _ENUM), type_state=Field(2, Structured),
    type_spec_class_name=Field(3, _TEXT), num_flat_components=Field(4, "int32"))
Nothing = make_message("NoneValue", "None.")
Structured._fields.update({key: Field(number, kind, oneof="kind") for key, number, kind in (
    ("none_value", 1, Nothing), ("float64_value", 11, "double"), ("int64_value", 12, "sint64"),
    ("string_value", 13, _TEXT), ("bool_value", 14, _TRUTH), ("tensor_shape_value", 31, TensorShapeProto),
    ("tensor_dtype_value", 32, _ENUM), ("tensor_spec_value", 33, Spec), ("type_spec_value", 34, TypeSpecProto),
    ("bounded_tensor_spec_value", 35, Spec), ("list_value", 51, Values), ("tuple_value", 52, Values),
    ("dict_value", 53, Dict), ("named_tuple_value", 54, Named), ("tensor_value", 55, TensorProto),
    ("numpy_value", 56, TensorProto))})

# --- objects
Reference = make_message("ObjectReference", "A part of an object.", node_id=Field(1, "int32"),
                         local_name=Field(2, _TEXT))
UserObject = make_message("SavedUserObject", "An object of a class.", identifier=Field(1, _TEXT),
                          version=Field(2, Versions), metadata=Field(3, _TEXT))
SavedAsset = make_message("SavedAsset", "A file.", asset_file_def_index=Field(1, "int32"))
FunctionSpec = make_message("FunctionSpec", "A Python function's parameters.", fullargspec=Field(1, Structured),
                            is_method=Field(2, _TRUTH), input_signature=Field(5, Structured))
SavedFunction = make_message("SavedFunction", "A tf.function.", concrete_functions=Field(1, _TEXT, True),
                             function_spec=Field(2, FunctionSpec))
BareFunction = make_message(
    "SavedBareConcreteFunction", "One trace.", concrete_function_name=Field(1, _TEXT),
    argument_keywords=Field(2, _TEXT, True), allowed_positional_arguments=Field(3, _WHOLE),
    function_spec=Field(4, FunctionSpec))
SavedConstant = make_message("SavedConstant", "A tensor.", operation=Field(1, _TEXT))
SavedVariable = make_message(
    "SavedVariable", "A variable.", dtype=Field(1, _ENUM), shape=Field(2, TensorShapeProto),
    trainable=Field(3, _TRUTH), synchronization=Field(4, _ENUM), aggregation=Field(5, _ENUM), name=Field(6, _TEXT),
    device=Field(7, _TEXT))
SavedResource = make_message("SavedResource", "A table or the like.", device=Field(1, _TEXT))
CapturedTensor = make_message("CapturedTensor", "A tensor of a function.", name=Field(1, _TEXT),
                              concrete_function=Field(2, _TEXT))
SavedObject = make_message(
    "SavedObject", "An object.", children=Field(1, Reference, True), slot_variables=Field(3, _RAW, True),
    user_object=Field(4, UserObject, oneof="kind"), asset=Field(5, SavedAsset, oneof="kind"),
    function=Field(6, SavedFunction, oneof="kind"), variable=Field(7, SavedVariable, oneof="kind"),
    bare_concrete_function=Field(8, BareFunction, oneof="kind"), constant=Field(9, SavedConstant, oneof="kind"),
    resource=Field(10, SavedResource, oneof="kind"), captured_tensor=Field(12, CapturedTensor, oneof="kind"),
    registered_name=Field(13, _TEXT))
SavedConcrete = make_message(
    "SavedConcreteFunction", "What a trace reads and takes.", bound_inputs=Field(2, "int32", True),
    canonicalized_input_signature=Field(3, Structured), output_signature=Field(4, Structured))
Concretes = _pairs("Concretes", SavedConcrete)
ObjectGraph = make_message("SavedObjectGraph", "All objects.", nodes=Field(1, SavedObject, True),
                           concrete_functions=Field(2, Concretes, True))

# --- the file
TensorInfo = make_message("TensorInfo", "A tensor of the graph.", name=Field(1, _TEXT), dtype=Field(2, _ENUM),
                          tensor_shape=Field(3, TensorShapeProto))
AssetFile = make_message("AssetFileDef", "A file.", tensor_info=Field(1, TensorInfo), filename=Field(2, _TEXT))
NamedInfo = _pairs("NamedTensorInfo", TensorInfo)
SignatureDef = make_message("SignatureDef", "A function of the graph.", inputs=Field(1, NamedInfo, True),
                            outputs=Field(2, NamedInfo, True), method_name=Field(3, _TEXT))
NamedSignature = _pairs("NamedSignature", SignatureDef)
MetaInfo = make_message("MetaInfoDef", "Who wrote a file.", meta_graph_version=Field(1, _TEXT),
                        tags=Field(4, _TEXT, True), tensorflow_version=Field(5, _TEXT))
MetaGraph = make_message(
    "MetaGraphDef", "A program.", meta_info_def=Field(1, MetaInfo), graph_def=Field(2, GraphDef),
    saver_def=Field(3, _RAW), signature_def=Field(5, NamedSignature, True), asset_file_def=Field(6, AssetFile, True),
    object_graph_def=Field(7, ObjectGraph))
SavedModel = make_message("SavedModel", "The file.", saved_model_schema_version=Field(1, _WHOLE),
                          meta_graphs=Field(2, _RAW, True))


def read(kind, data, what):
    """Return a message, or raise a DataLossError that says of what.

    Parameters
    ----------
    kind : type
        The message's class.
    data : bytes
        The bytes.
    what : str
        What the bytes are said to be.

    Returns
    -------
    Message
        The message.

    """
    try:
        return kind.FromString(data)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataLossError(None, None, f"Cannot parse {what}: {error}") from None
