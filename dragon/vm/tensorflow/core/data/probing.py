"""What a user's function gives for elements of a spec, found by calling it without data."""
from itertools import islice

from dragon import _C
from dragon.vm.tensorflow.core.data.specs import TensorSpec, merge_shapes, spec_of
from dragon.vm.tensorflow.core.data.structure import call, flatten, map_structure, to_result
from dragon.vm.tensorflow.core.tensor import ops

SIZES = (2, 3)  # that an unknown dimension is taken to have in two calls
LOOKS = 3  # elements that are looked at where there is no other way


def result_spec(function, source):
    """Return the structure of specs of what a function gives for the elements of a dataset.

    The function is called twice with tensors that have no numbers, or, where it wants to see some, with the first
    elements; a dimension in which these agree counts as known.

    """
    spec = source.element_spec
    with_datasets = []

    def note(value):
        with_datasets.extend(part for part in flatten(value) if hasattr(type(part), "_type_spec"))
        return spec_of(value)
    try:
        specs = [note(_call_without_data(function, spec, size)) for size in SIZES]
    except Exception:  # a function that looks at its numbers may fail in any way when there are none
        return _spec_of_first(function, source)
    if with_datasets:
        return _result_of_components(function, source, specs[0])
    try:
        return map_structure(_merge, *specs)
    except (TypeError, ValueError):
        return _spec_of_first(function, source)


def _merge(first, second):
    if type(first) is not TensorSpec:
        return first if first == second or not hasattr(first, "_relaxed") else first._relaxed()
    return TensorSpec(merge_shapes(first.shape, second.shape), first.dtype)


def _result_of_components(function, source, spec):
    """Return the spec of results that are datasets: theirs is known without an element."""
    return spec


def _spec_of_first(function, source):
    specs = [spec_of(to_result(call(function, element))) for element in islice(source._iterate(), LOOKS)]
    if not specs:
        raise ValueError("element_spec: the function reads its arguments, and there is no element to call it with")
    merged = specs[0]
    for other in specs[1:]:
        merged = map_structure(_merge, merged, other)
    return merged


def _call_without_data(function, spec, size):
    """Call a function with tensors of a spec whose unknown dimensions have a size."""
    def make(part):
        if type(part) is not TensorSpec or part.shape.rank is None or part.dtype.name == "string":
            raise NotImplementedError(f"element_spec: got {part}, expected a dense tensor of numbers")
        shape = [size if own is None else own for own in part.shape]
        return _C.phantom_like(ops.empty((), dtype=part.dtype), shape)
    element = map_structure(make, spec)
    before = _C.set_phantom(True)
    try:
        return to_result(call(function, element))
    finally:
        _C.set_phantom(before)
