"""`model.export(format="onnx")`: a model as an ONNX file, without training and without Python."""
import itertools

from dragon import _C
from dragon.core import files
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.shared.tensors.tensor import Tensor, ops

BATCH = 2  # what stands for a number of samples that is known at run time only
SIZES = (64, 8, 256, 2)  # what stands for other such sizes: as many as most windows and poolings want, then others


class Arguments(list):
    """The inputs of a model that is called with several arguments."""


def call_model(model, inputs):
    """Return what a model makes of inputs without training."""
    return model(*inputs if isinstance(inputs, Arguments) else [inputs], training=False)


class _Inference:
    """A model as a function of flat tensors, with the names of its weights."""

    def __init__(self, model, structure):
        self.model, self.structure = model, structure

    def __call__(self, *tensors):
        inputs = tree.pack_sequence_as(self.structure, tensors)
        return tuple(tree.flatten(call_model(self.model, inputs)))

    def state_dict(self, **options):
        """Return the weights by their paths."""
        return {weight.path.replace("/", "."): _C.as_class(weight, Tensor) for weight in self.model.variables}


def input_specs(model, input_signature=None):
    """Return the inputs of a model as nested symbolic tensors; a batch has any number of samples unless it is told.

    Parameters
    ----------
    input_signature : Any, optional
        Nested specs, with a shape, a dtype and perhaps a name; the model's own inputs without them.

    """
    if not model.built:
        raise ValueError("The layer provided has not yet been built. It must be built before export. "
                         f"Received: {model}")
    if input_signature is None:
        graph = getattr(model, "_functional", None) or model
        if hasattr(graph, "_inputs_struct"):
            return tree.map_structure(_of_any_batch, graph._inputs_struct)
        shapes = getattr(model, "_build_shapes_dict", None)
        if not shapes:
            raise ValueError("The model provided has never called. It must be called at least once before export. "
                             f"Received: {model}")
        shapes = [tree.map_shape_structure(lambda shape: _of_any_batch(KerasTensor(shape)), shape)
                  for shape in shapes.values()]
        return shapes[0] if len(shapes) == 1 else Arguments(shapes)

    def spec_of(spec):
        if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
            raise TypeError("export: got something that is no spec in `input_signature`, expected a `keras.InputSpec` "
                            f"or the like. Unsupported x={spec} (of type {type(spec)})")
        return KerasTensor(tuple(spec.shape), dtype=standardize_dtype(spec.dtype), name=getattr(spec, "name", None))
    specs = tree.map_structure(spec_of, input_signature)
    return specs[0] if isinstance(specs, (list, tuple)) and len(specs) == 1 else specs


def _of_any_batch(x):
    """Return a symbolic tensor whose number of samples is not known, with its origin."""
    if not x.shape or x.shape[0] is None:
        return x
    made = KerasTensor((None, *x.shape[1:]), dtype=x.dtype, sparse=x.sparse, ragged=x.ragged, name=x.name)
    if hasattr(x, "_keras_history"):
        made._keras_history = x._keras_history
    return made


def _axes_of(specs, names, together):
    """Return {name: {axis: its size}} of sizes that are known at run time only; `together`: alike in all inputs."""
    def symbol(name, axis):
        return "batch" if axis == 0 else f"size_{axis}" if together else f"{name}_{axis}"
    axes = {name: {axis: symbol(name, axis) for axis, size in enumerate(spec.shape) if size is None}
            for name, spec in zip(names, specs)}
    return {name: found for name, found in axes.items() if found}


def _fixed_in(model, axes):
    """Return how many sizes a model has for numbers that were to be known at run time only."""
    return sum(face.type.tensor_type.shape.dim[axis].HasField("dim_value") for face in model.graph.input
               for axis in axes.get(face.name, ()))


def _least_fixed(function, specs, names, opset):
    """Return a function as a model, from examples of the first sizes at which no size must be a certain one.

    Each size is one of its own, if the function goes on so; else those of an axis are alike in all inputs, as layers
    want that add or join.
    """
    from dragon.onnx import ExportError, export
    alone, together = (_axes_of(specs, names, alike) for alike in (False, True))
    ways = [alone, together] if any(set(found) - {0} for found in alone.values()) and len(alone) > 1 else [alone]
    best, least, failure = None, None, None
    for size, axes in itertools.product(SIZES if together != alone else SIZES[:1], ways):
        examples = [ops.zeros(tuple((size if axis else BATCH) if known is None else known
                                    for axis, known in enumerate(spec.shape)), dtype=standardize_dtype(spec.dtype))
                    for spec in specs]
        try:
            model = export(function, tuple(examples), input_names=names, opset=opset, dynamic_axes=axes)
        except ExportError as error:
            failure = failure or error
            continue
        fixed = _fixed_in(model, axes)
        if best is None or fixed < least:
            best, least = model, fixed
        if not fixed:
            break
    if best is None:
        raise failure
    return best


def write_onnx(function, specs, names, filepath, opset_version=None, extra=None):
    """Write a function of flat tensors as an ONNX file.

    Parameters
    ----------
    function : Callable
        The function; its `state_dict` names the weights.
    specs : List[Any]
        The shape and the dtype of each input.
    names : List[str]
        The inputs' names.
    filepath : Union[str, pathlib.Path]
        The file.
    opset_version : int, optional, default=18
        The version of ONNX's operators.
    extra : Dict[str, Tensor], optional
        What else is stored among the initializers.

    """
    model = _least_fixed(function, specs, names, opset_version or 18)
    if extra:
        from onnx import numpy_helper
        model.graph.initializer.extend(numpy_helper.from_array(value.numpy(), name) for name, value in extra.items())
    files.write(filepath, model.SerializeToString())


def export_onnx(model, filepath, verbose=None, input_signature=None, opset_version=None, **kwargs):
    """Write a model as an ONNX file.

    Parameters
    ----------
    model : Model
        The model; it must have been built.
    verbose : bool, optional, default=True
        Whether to say where the file is.
    input_signature : Any, optional
        Nested specs of the inputs; the model's own without them.
    opset_version : int, optional, default=18
        The version of ONNX's operators.

    """
    if kwargs:
        raise ValueError(f"export: got unknown arguments for format='onnx'. Received: {kwargs}")
    specs = input_specs(model, input_signature)
    leaves = tree.flatten(specs)
    names = [getattr(getattr(spec, "_keras_history", (None,))[0], "name", None) or spec.name for spec in leaves]
    write_onnx(_Inference(model, specs), leaves, names, filepath, opset_version)
    if verbose is None or verbose:
        from dragon.vm.keras.core.messages import print_msg
        print_msg(f"Saved artifact at '{filepath}'.")
