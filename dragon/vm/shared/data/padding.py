"""Batches of elements of different shapes: each is copied into a corner of an array of the padding's value."""
from dragon.io.stages.padding import pad
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import wrap_array
from dragon.vm.shared.data.specs import TensorSpec
from dragon.vm.shared.data.structure import flatten, is_nested, map_structure
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.shape import TensorShape


def padded_plan(source, shapes, values):
    """Return for each component the shape to pad to, None where the largest decides, and the value to pad with."""
    spec = source.element_spec
    for part in flatten(spec):
        if not isinstance(part, TensorSpec):
            raise TypeError(f"padded_batch: only dense tensors can be padded. Received: a component of {part}")
    if shapes is None:
        for part in flatten(spec):
            if part.shape.rank is None:
                raise ValueError("padded_batch: padded_shapes must be given where a component's rank is not known. "
                                 f"Received: a component of {part}")
        # Elements that have a size have it already: the largest is as good as the one that is known.
        wanted = [[None] * part.shape.rank for part in flatten(spec)]
    else:
        wanted = [_as_shape(shape) for shape in _flatten_shapes(spec, shapes)]
    fill = [None] * len(wanted) if values is None else _flatten_values(spec, values)
    plan = []
    for part, shape, value in zip(flatten(spec), wanted, fill):
        _check_shape(part, shape)
        plan.append((shape, _as_value(value, part)))
    return plan


def _as_shape(shape):
    if isinstance(shape, TensorShape):
        return list(shape)
    numbers = shape.numpy().tolist() if hasattr(shape, "numpy") else shape
    return [None if size is None or int(size) == -1 else int(size) for size in numbers]


def _flatten_shapes(spec, shapes):
    """Return the shapes for the components; a shape is itself a list or a tuple."""
    if not is_nested(spec):
        return [shapes]
    if isinstance(spec, dict):
        return [shape for key in sorted(spec) for shape in _flatten_shapes(spec[key], shapes[key])]
    if len(spec) != len(shapes):
        raise ValueError(f"padded_batch: expected padded_shapes for {len(spec)} components. Received: {shapes}")
    return [shape for part, own in zip(spec, shapes) for shape in _flatten_shapes(part, own)]


def _flatten_values(spec, values):
    if is_nested(values) and not hasattr(values, "shape"):
        return flatten(values)
    return [values] * len(flatten(spec))


def _as_value(value, spec):
    """Return the number to pad with; None stands for the dtype's zero."""
    if value is None:
        return b"" if spec.dtype.name == "string" else 0
    tensor = convert_to_tensor(value)
    if spec.dtype.name != "string" and not hasattr(value, "dtype"):
        tensor = convert_to_tensor(value, dtype=spec.dtype)
    if tuple(tensor.shape) != ():
        raise ValueError(f"padded_batch: padding values must be scalars. Received: {value!r}")
    if tensor.dtype != spec.dtype:
        raise TypeError(f"padded_batch: expected a padding value of {spec.dtype.name}. Received: {value!r}")
    found = tensor.numpy()
    return found if isinstance(found, bytes) else found.item()


def _check_shape(spec, shape):
    if spec.shape.rank is None:
        return
    if len(shape) != spec.shape.rank:
        raise ValueError(f"padded_batch: a padded shape must have the rank of its component. Received: {shape} for a "
                         f"component of shape {spec.shape}")
    for size, known in zip(shape, spec.shape):
        if size is not None and known is not None and known > size:
            raise ValueError(f"padded_batch: the padded shape is smaller than the component. Received: {shape} for a "
                             f"component of shape {spec.shape}")


def pad_elements(elements, plan):
    """Return elements as a batch, padded as a plan says."""
    parts = iter(plan)
    return map_structure(lambda *leaves: _pad_leaves(leaves, *next(parts)), *elements)


def _pad_leaves(leaves, shape, value):
    import numpy as np
    arrays = [np.asarray(leaf.numpy(), dtype=object if leaf.dtype.name == "string" else None) for leaf in leaves]
    sizes = [max(array.shape[axis] for array in arrays) if size is None else size for axis, size in enumerate(shape)]
    for array in arrays:
        if array.ndim != len(sizes) or any(own > size for own, size in zip(array.shape, sizes)):
            raise errors.DataLossError(
                None, None, "Attempted to pad to a smaller size than the input element. Received: an element of shape "
                f"{list(array.shape)}, to be padded to {sizes}.")
    return wrap_array(pad(arrays, sizes, value, arrays[0].dtype))
