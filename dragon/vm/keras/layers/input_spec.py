"""What a layer expects of its inputs, and the errors of inputs that are something else."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.shapes import standardize_shape
from dragon.vm.shared.letters import expect


class InputSpec(Configured):
    """What a layer expects of one input.

    Parameters
    ----------
    dtype : str, optional
        The dtype.
    shape : Sequence[Optional[int]], optional
        The sizes; None for any.
    ndim : int, optional
        The number of axes.
    max_ndim : int, optional
        The greatest number of axes.
    min_ndim : int, optional
        The least number of axes.
    axes : Dict[int, int], optional
        The sizes of some axes.
    allow_last_axis_squeeze : bool, optional, default=False
        Whether a last axis of size 1 may be there or not.
    name : str, optional
        The key of the input among named ones.
    optional : bool, optional, default=False
        Whether None will do.

    """

    _left_out = "allow_last_axis_squeeze name"

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None,
                 allow_last_axis_squeeze=False, name=None, optional=False):
        self.dtype = None if dtype is None else standardize_dtype(dtype)
        self.shape = None if shape is None else standardize_shape(shape)
        self.ndim = ndim if shape is None else len(self.shape)
        self.max_ndim, self.min_ndim, self.name, self.optional = max_ndim, min_ndim, name, optional
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        expect(axes or {}, dict, "InputSpec", "axes")
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError):
            raise TypeError("Argument `axes` must be a dict with integer keys. "
                            f"Received: axes={axes}") from None
        if self.axes and (self.ndim is not None or self.max_ndim is not None):
            last = (self.ndim or self.max_ndim) - 1
            if max(self.axes) > last:
                raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {last}")

    def __repr__(self):
        fields = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return f"InputSpec({', '.join(f'{name}={getattr(self, name)}' for name in fields if getattr(self, name))})"


def _in_order(specs, inputs, layer_name):
    """Return inputs as a list in the order of the specs."""
    if isinstance(inputs, dict):
        names = [getattr(spec, "name", None) for spec in specs]
        if all(names):
            for name in names:
                if name not in inputs:
                    raise ValueError(f'Missing data for input "{name}". You passed a data dictionary with keys '
                                     f"{list(inputs.keys())}. Expected the following keys: {names}")
            inputs = [inputs[name] for name in names]
    inputs = tree.flatten(inputs)
    if len(inputs) != len(specs):
        names = [spec.name for spec in specs if spec is not None]
        if len(names) == len(specs) and all(names):
            example = ", ".join(f"'{name}': ..." for name in names)
            raise ValueError(f'Layer "{layer_name}" expects {len(specs)} named input(s) with keys {names}, but it '
                             f"received {len(inputs)} input tensors. Pass inputs as a dict, e.g. "
                             f"`layer({{{example}}})`.")
        raise ValueError(f'Layer "{layer_name}" expects {len(specs)} input(s), but it received {len(inputs)} input '
                         f"tensors. Inputs received: {inputs}")
    return inputs


def assert_input_compatibility(input_spec, inputs, layer_name):
    """Raise ValueError unless inputs are what specs say."""
    if not input_spec:
        return
    specs = [input_spec] if isinstance(input_spec, InputSpec) else tree.flatten(input_spec)
    for number, (x, spec) in enumerate(zip(_in_order(specs, inputs, layer_name), specs)):
        if spec is None or x is None and spec.optional:
            continue
        if not hasattr(x, "shape"):
            raise ValueError(f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for layer "
                             f"'{layer_name}'.")
        problem = _find_problem(spec, standardize_shape(tuple(x.shape)), x)
        if problem:
            raise ValueError(f"Input {number} with name '{spec.name}' of layer '{layer_name}' is incompatible with the "
                             f"layer: {problem}")


def hint_at_layout(axis, size, shape):
    """Return a hint where the channels that a layer wants stand at the other end of a batch of images."""
    other = 1 if axis in (-1, len(shape) - 1) else len(shape) - 1
    if len(shape) < 3 or shape[other] != size:
        return ""
    layout = "channels_first" if other == 1 else "channels_last"
    return (f". Axis {other} has {size}: if the channels stand there, the layer wants data_format='{layout}', or the "
            "input a transpose")


def _find_problem(spec, shape, x):
    """Return what is wrong with an input, or None."""
    ndim = len(shape)
    if spec.ndim is not None and not spec.allow_last_axis_squeeze and ndim != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={ndim}. Full shape received: {shape}"
    if spec.max_ndim is not None and ndim > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={ndim}"
    if spec.min_ndim is not None and ndim < spec.min_ndim:
        return f"expected min_ndim={spec.min_ndim}, found ndim={ndim}. Full shape received: {shape}"
    if spec.dtype is not None and (dtype := standardize_dtype(x.dtype)) != spec.dtype:
        return f"expected dtype={spec.dtype}, found dtype={dtype}"
    for axis, size in spec.axes.items():
        if size is not None and shape[axis] not in (size, None):
            return (f"expected axis {axis} of input shape to have value {size}, but received input with shape {shape}"
                    + hint_at_layout(axis, size, shape))
    if spec.shape is None:
        return None
    wanted = spec.shape
    if spec.allow_last_axis_squeeze:
        shape = shape[:-1] if shape and shape[-1] == 1 else shape
        wanted = wanted[:-1] if wanted and wanted[-1] == 1 else wanted
    if any(a is not None and b is not None and a != b for a, b in zip(wanted, shape)):
        return f"expected shape={spec.shape}, found shape={shape}"
    return None
