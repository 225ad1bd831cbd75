"""Tensors and variables: `framework.ops`, `ops.resource_variable_ops`, `trackable.base`, `training.moving_averages`."""
from dragon.vm.shared.tensors import convert, variable
from dragon.vm.shared.tensors.tensor import Tensor, ops
from dragon.vm.tensorflow.core.first.graphs import colocate_with
from dragon.vm.tensorflow.core.first.scopes import name_scope
from dragon.vm.tensorflow.core.module import Module, get_current_name_scope
from dragon.vm.tensorflow.core.saved_model.messages import GraphDef


def convert_n_to_tensor(values, dtype=None, name=None, as_ref=False, preferred_dtype=None, ctx=None):
    """Return several values as tensors."""
    return [convert.convert_to_tensor(value, dtype, preferred_dtype) for value in values]


def convert_to_tensor(value, dtype=None, name=None, as_ref=False, preferred_dtype=None, dtype_hint=None, ctx=None,
                      accepted_result_types=None):
    """Return a value as a tensor; see `tf.convert_to_tensor`."""
    return convert.convert_to_tensor(value, dtype, preferred_dtype if dtype_hint is None else dtype_hint)


def convert_to_tensor_or_composite(value, dtype=None, name=None):
    """Return ragged and sparse tensors as they are, anything else as a tensor."""
    return value if hasattr(value, "_component_tensors") else convert.convert_to_tensor(value, dtype)


def is_resource_variable(var):
    """Return whether something is a variable."""
    return isinstance(var, variable.Variable)


class Trackable(Module):
    """The base of objects whose variables checkpoints find; see `tf.Module`."""


def no_automatic_dependency_tracking(method):
    """Return a method: attributes are found when a checkpoint is written, not when they are set."""
    return method


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """Move a variable towards a value; returns the variable.

    Parameters
    ----------
    variable : Variable
        The running mean.
    value : Tensor
        What it moves to.
    decay : float
        How much of it stays.
    zero_debias : bool, optional, default=True
        Whether the mean is of what came alone, not of the zeros that it began with; in graphs of TensorFlow 1 only.
    name : str, optional
        Accepted.

    """
    value = convert.convert_to_tensor(value, variable.dtype)
    rest = ops.sub(1.0, ops.cast(convert.convert_to_tensor(decay), variable.dtype))
    return variable.assign_sub(ops.mul(ops.sub(variable.value(), value), rest))


_VARIABLES = {"ResourceVariable": variable.Variable, "BaseResourceVariable": variable.Variable,
              "is_resource_variable": is_resource_variable}
_OBJECTS = {"Trackable": Trackable, "AutoTrackable": Trackable,
            "no_automatic_dependency_tracking": no_automatic_dependency_tracking}
MEMBERS = {
    "framework.ops": {"Tensor": Tensor, "EagerTensor": Tensor, "SymbolicTensor": Tensor, "colocate_with": colocate_with,
                      "convert_n_to_tensor": convert_n_to_tensor, "convert_to_tensor": convert_to_tensor,
                      "convert_to_tensor_or_composite": convert_to_tensor_or_composite,
                      "get_name_scope": get_current_name_scope, "name_scope": name_scope, "GraphDef": GraphDef},
    "framework.tensor": {"Tensor": Tensor},
    "framework.tensor_conversion": {"convert_to_tensor_v2_with_dispatch": convert.convert_to_tensor},
    "ops.resource_variable_ops": _VARIABLES,
    "ops.variables": {"VariableV1": variable.Variable},
    "trackable.base": _OBJECTS,
    "trackable.autotrackable": _OBJECTS,
    "training.moving_averages": {"assign_moving_average": assign_moving_average},
    "saved_model.tag_constants": {"SERVING": "serve", "TRAINING": "train", "EVAL": "eval", "GPU": "gpu", "TPU": "tpu"},
    "saved_model.signature_constants": {
        "DEFAULT_SERVING_SIGNATURE_DEF_KEY": "serving_default", "PREDICT_METHOD_NAME": "tensorflow/serving/predict",
        "PREDICT_INPUTS": "inputs", "PREDICT_OUTPUTS": "outputs", "CLASSIFY_INPUTS": "inputs",
        "REGRESS_INPUTS": "inputs", "REGRESS_OUTPUTS": "outputs"},
    "saved_model.constants": {"SAVED_MODEL_FILENAME_PB": "saved_model.pb", "VARIABLES_DIRECTORY": "variables",
                              "SAVED_MODEL_FILENAME_PBTXT": "saved_model.pbtxt", "VARIABLES_FILENAME": "variables",
                              "ASSETS_DIRECTORY": "assets"},
}
