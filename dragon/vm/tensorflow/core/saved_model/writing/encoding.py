"""Structures of arguments and results as messages."""
from dragon.vm.shared.files.tensor_proto import TensorShapeProto
from dragon.vm.shared.ragged.tensor import RaggedTensorSpec
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.tensorflow.core.saved_model import messages
from dragon.vm.tensorflow.core.saved_model.messages import Structured
from dragon.vm.tensorflow.core.saved_model.structures import RAGGED, count_parts


def set_shape(proto, shape):
    """Write a shape into a message."""
    shape = TensorShape(shape)
    proto.SetInParent()
    if shape.rank is None:
        proto.unknown_rank = True
        return
    for size in shape:
        proto.dim.add(size=-1 if size is None else int(size))


def encode(value):
    """Return nested Python values and specs as a message."""
    if value is None:
        return Structured(none_value=messages.Nothing())
    if isinstance(value, TensorSpec):
        spec = messages.Spec(name=value.name or "", dtype=value.dtype.as_datatype_enum)
        set_shape(spec.shape, value.shape)
        return Structured(tensor_spec_value=spec)
    if isinstance(value, RaggedTensorSpec):
        return _encode_ragged(value)
    for kind, name in ((bool, "bool_value"), (int, "int64_value"), (float, "float64_value"), (str, "string_value")):
        if isinstance(value, kind):
            return Structured(**{name: value})
    if isinstance(value, dict):
        fields = [messages.Fields_(key=key, value=encode(value[key])) for key in sorted(value)]
        return Structured(dict_value=messages.Dict(fields=fields))
    if isinstance(value, (list, tuple)):
        name = "tuple_value" if isinstance(value, tuple) else "list_value"
        return Structured(**{name: messages.Values(values=[encode(one) for one in value])})
    raise TypeError(f"saved_model.save: got {type(value).__name__} in arguments or results, expected tensors, numbers, "
                    "text, lists, tuples and dictionaries")


def _encode_ragged(value):
    shape = TensorShapeProto()
    set_shape(shape, value.shape)
    state = Structured(tuple_value=messages.Values(values=[
        Structured(tensor_shape_value=shape), Structured(tensor_dtype_value=value.dtype.as_datatype_enum),
        Structured(int64_value=value.ragged_rank),
        Structured(tensor_dtype_value=value.row_splits_dtype.as_datatype_enum)]))
    return Structured(type_spec_value=messages.TypeSpecProto(
        type_spec_class=RAGGED, type_state=state, type_spec_class_name="RaggedTensorSpec",
        num_flat_components=count_parts(value)))


def parameters(names, defaults=(), named_only=None, rest=None, named_rest=None):
    """Return what is told of a Python function's parameters; the rest are the names of `*args` and `**kwargs`."""
    pairs = [("args", list(names)), ("varargs", rest), ("varkw", named_rest), ("defaults", tuple(defaults) or None),
             ("kwonlyargs", list(named_only or {})), ("kwonlydefaults", named_only or None), ("annotations", {})]
    named = messages.Named(name="FullArgSpec", values=[messages.Pair(key=key, value=encode(value))
                                                       for key, value in pairs])
    made = messages.FunctionSpec(is_method=False)
    made.fullargspec.MergeFrom(Structured(named_tuple_value=named))
    made.input_signature.MergeFrom(encode(None))
    return made
