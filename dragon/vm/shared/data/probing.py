"""The spec of a user function's results, found by calling it with made-up ones."""
from itertools import islice

from dragon.core.interrupts import is_interrupt
from dragon.core.scopes import contextmanager
from dragon.vm.shared import seed
from dragon.vm.shared.data.rows import wrap_array
from dragon.vm.shared.data.seeds import seeded
from dragon.vm.shared.data.specs import TensorSpec, merge_shapes, spec_of
from dragon.vm.shared.data.structure import call, map_structure, to_result

# Of the made-up elements of two calls: the size of unknown dimensions, the number everywhere, the text everywhere.
# What of a result's shape depends on any of these is not known.
TRIALS = ((2, 1, b"1"), (3, 2, b"2 2"))
LOOKS = 3  # elements that are looked at where there is no other way


def result_spec(function, source):
    """Return the structure of specs of what a function gives for the elements of a dataset.

    The function is called with two made-up elements, or, where these do not do, with the first elements; dimensions in
    which the results agree count as known.

    """
    spec = source.element_spec
    try:
        with seed.undisturbed():
            specs = [spec_of(to_result(call(function, make_element(spec, *trial)))) for trial in TRIALS]
        return map_structure(merge_results, *specs)
    except Exception as error:  # a function may fail in any way where it is given what it was not made for
        if is_interrupt(error):
            raise
        return _spec_of_first(function, source)


def merge_results(first, second):
    """Return the spec that holds for two results of a function."""
    if type(first) is not TensorSpec:
        return first if first == second or not hasattr(first, "_relaxed") else first._relaxed()
    return TensorSpec(merge_shapes(first.shape, second.shape), first.dtype)


def _spec_of_first(function, source):
    with _unread(source):
        specs = [spec_of(to_result(call(function, element))) for element in islice(source._open(), LOOKS)]
    if not specs:
        raise ValueError("element_spec: the function fails with made-up arguments, and there is no element to call it "
                         "with")
    merged = specs[0]
    for other in specs[1:]:
        merged = map_structure(merge_results, merged, other)
    return merged


@contextmanager
def _unread(source):
    """Have shuffles behave after the block as if nobody had looked at their elements within."""
    kept = [(dataset, dataset._get_state()) for dataset in seeded(source)]
    try:
        yield
    finally:
        for dataset, state in kept:
            dataset._set_state(*state)


def make_element(spec, size, number, text):
    """Return an element of a spec."""
    import numpy as np

    def make(part):
        if hasattr(part, "_make_up"):
            return part._make_up(size, number, text)
        if type(part) is not TensorSpec or part.shape.rank is None:
            raise NotImplementedError(f"element_spec: got {part}, expected a dense tensor of a known rank")
        shape = [size if own is None else own for own in part.shape]
        return wrap_array(np.full(shape, text if part.dtype.name == "string" else number, part.dtype.as_numpy_dtype))
    return map_structure(make, spec)
