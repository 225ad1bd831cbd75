"""Keras's models and archives in folders that TensorFlow loads: `model.export(path)`."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.messages import print_msg
from dragon.vm.keras.export.onnx import Arguments, call_model, input_specs
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.type_spec import TensorSpec
from dragon.vm.tensorflow.core.saved_model.saving import SERVING, Folder
from dragon.vm.tensorflow.core.saved_model.writing.encoding import parameters

LISTS = ("variables", "trainable_variables", "non_trainable_variables")


class _Root:
    """What holds lists of variables."""

    def __init__(self, parts):
        self._parts = parts

    def _checkpoint_parts(self):
        return self._parts


def write_endpoints(holder, endpoints, filepath, collections=None):
    """Write functions over the variables of a model or archive.

    Parameters
    ----------
    holder : Any
        Has `variables`, `trainable_variables` and `non_trainable_variables`.
    endpoints : Dict[str, Tuple[Callable, list]]
        Functions, and nested specs for each of their arguments.
    filepath : str
        The folder.
    collections : Dict[str, Sequence[Variable]], optional
        Variables that stand under further names.

    """
    lists = {name: list(getattr(holder, name)) for name in LISTS}
    made = Folder(_Root({**lists, **{name: list(variables) for name, variables in (collections or {}).items()}}))
    for name in LISTS:
        if not lists[name]:
            made.add_list(name)
    signatures = {}
    for name, (function, signature) in endpoints.items():
        trace = made.trace(f"__inference_{name}", function, tuple(signature), {})
        names = ["inputs"] if len(signature) == 1 else [f"input_{place}" for place in range(len(signature))]
        made.nodes[0].children.add(node_id=made.add_function([trace], parameters(names)), local_name=name)
        signatures[name] = function, tuple(signature), {}
    made.add_signatures({**signatures, SERVING: next(iter(signatures.values()))})
    made.write(filepath)


def default_signature(model):
    """Return what `tf.saved_model.save` writes of a model for servers: {name: (function, args, kwargs)}.

    Parameters
    ----------
    model : Model
        The model.

    Returns
    -------
    Dict[str, Tuple[Callable, tuple, dict]]
        The call without training, of "inputs", "inputs_1" and so on; nothing for a model without known inputs.

    """
    try:
        given = input_specs(model)
    except ValueError:  # never called
        return {}
    count = iter(range(len(tree.flatten(given))))

    def spec_of(one):
        number = next(count)
        name = f"inputs_{number}" if number else "inputs"
        return TensorSpec(tuple(one.shape), as_dtype(standardize_dtype(one.dtype)), name)
    specs = tree.map_structure(spec_of, given)
    return {SERVING: (lambda inputs: call_model(model, inputs), (specs,), {})}


def export_saved_model(model, filepath, verbose=None, input_signature=None, **kwargs):
    """Write a model into a folder that TensorFlow loads, with the endpoints "serve" and "serving_default".

    Parameters
    ----------
    model : Model
        The model; it must have been built.
    filepath : str
        The folder.
    verbose : bool, optional, default=True
        Whether to say where the folder is.
    input_signature : Any, optional
        Nested specs of the inputs; the model's own without them.
    **kwargs : Any
        Must be empty.

    """
    if kwargs:
        raise ValueError(f"export: got unknown arguments for format='tf_saved_model'. Received: {kwargs}")

    def spec_of(given):
        name = getattr(getattr(given, "_keras_history", (None,))[0], "name", None) or given.name
        return TensorSpec(tuple(given.shape), as_dtype(standardize_dtype(given.dtype)), name)
    specs = tree.map_structure(spec_of, input_specs(model, input_signature))
    several = isinstance(specs, Arguments)
    call = (lambda *inputs: model(*inputs, training=False)) if several else (
        lambda inputs: model(inputs, training=False))
    write_endpoints(model, {"serve": (call, list(specs) if several else [specs])}, filepath)
    if verbose is None or verbose:
        print_msg(f"Saved artifact at '{filepath}'.")
