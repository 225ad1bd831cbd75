"""One operator's call as a model, and a model under ONNX Runtime."""
import re

import onnx
import onnxruntime
from harness import engine

from dragon.onnx.model import make_model
from dragon.onnx.source import Call, Program, Value, array_of

onnxruntime.set_default_logger_severity(4)


def listed(value, type_name):
    """Return a lone int as the list that the schema makes of it."""
    match = re.match(r"(int|float)\[(\d*)\]", type_name)
    if not match or value is None:
        return value
    return list(value) if isinstance(value, (list, tuple)) else [value] * int(match[2] or 1)


def as_value(tensor, name, constant=False):
    """Return a tensor as a value of a graph."""
    return Value(name, engine.dtype_name(tensor), tuple(tensor.shape), tensor if constant else None)


def one_call(name, args, kwargs, results):
    """Return the program of one call whose tensors are its inputs; numbers in their place are constants."""
    schema = engine.schema(name)
    inputs, constants, arguments = [], [], {}

    def tensor(item):
        if item is None:
            return None
        if engine.is_tensor(item):
            inputs.append(as_value(item, f"x{len(inputs)}"))
            return inputs[-1]
        number = engine.tensor_of(item)
        constants.append(as_value(number, f"c{len(constants)}", constant=True))
        return constants[-1]

    for position, argument in enumerate(schema["arguments"]):
        value = args[position] if position < len(args) else kwargs.get(argument["name"], argument["default"])
        if argument["type"].startswith(("Tensor[", "Tensor?[")):
            value = [tensor(item) for item in value]
        elif argument["type"].startswith("Tensor"):
            value = tensor(value)
        arguments[argument["name"]] = listed(value, argument["type"])
    outputs = [result if result is None else as_value(result, f"y{index}") for index, result in enumerate(results)]
    wanted = [output for output in outputs if output is not None]
    return Program(name, inputs, wanted, constants, [Call(name, arguments, outputs)])


def feed(tensor):
    """Return a tensor as ONNX Runtime takes it."""
    array = array_of(tensor)
    if array.dtype.name != "bfloat16":
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view("uint16"), onnx.TensorProto.BFLOAT16)


def run(model, tensors):
    """Check a model in full, run it, and return its results as arrays; bfloat16 as float32."""
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    text = widen_results(model).SerializeToString()
    session = onnxruntime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    names = {item.name for item in model.graph.input}
    feeds = {item.name: feed(tensor) for item, tensor in zip(model.graph.input, tensors) if item.name in names}
    return [result.numpy() for result in session.run_with_ort_values(None, feeds)]


def widen_results(model):
    """Return a model that gives float32 where the other gives bfloat16, which NumPy has not."""
    wide = onnx.ModelProto.FromString(model.SerializeToString())
    for output in wide.graph.output:
        if output.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16:
            name, output.name = output.name, f"{output.name}_wide"
            cast = onnx.helper.make_node("Cast", [name], [output.name], to=onnx.TensorProto.FLOAT)
            wide.graph.node.append(cast)
            output.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    return wide


def export_call(name, args, kwargs, results, opset=18):
    """Return the model of one call."""
    program = one_call(name, args, kwargs, results)
    return make_model(program, [value.name for value in program.inputs], [value.name for value in program.outputs],
                      opset)
