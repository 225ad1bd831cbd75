"""Operators of whole batches, and those that call the program's own functions."""
import itertools
import threading

import numpy as np

from dragon.core.files import save_picture
from dragon.vm.dali.core.operators.random import generator
from dragon.vm.dali.core.operators.values import number
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

_counters = {}
_lock = threading.Lock()
_calls = threading.RLock()  # functions of the program's need not be made for threads: one is called at a time


@operator(kind="batch")
def permute_batch(samples, *, indices, context, count):
    """Bring the samples of a batch into another order."""
    places = [int(number(one)) for one in np.asarray(indices, object).ravel()] if isinstance(
        indices, (list, tuple, np.ndarray)) else [int(indices)] * count
    for place in places:
        if not 0 <= place < count:
            raise RuntimeError(got("fn.permute_batch", f"index {place}", f"0 to {count - 1}"))
    return [samples[place] for place in places]


@operator(kind="batch")
def batch_permutation(*, allow_repetitions=False, no_fixed_points=False, seed=None, context, count):
    """Return for each sample of a batch the number of another one."""
    draws = generator(context)
    if allow_repetitions:
        places = draws.integers(0, count, count)
        if no_fixed_points and count > 1:
            places = (np.arange(count) + draws.integers(1, count, count)) % count
    else:
        places = draws.permutation(count)
        while no_fixed_points and count > 1 and np.any(places == np.arange(count)):
            places = draws.permutation(count)
    return [Laid(np.asarray(place, np.int32), "") for place in places]


def _count(arguments):
    return arguments.get("num_outputs", 1) or 1


def _layouts(output_layouts, count):
    if output_layouts is None:
        return [""] * count
    given = [output_layouts] if isinstance(output_layouts, str) else list(output_layouts)
    return given + [""] * (count - len(given))


@operator("python_function", outputs=_count,
          instead=lambda arguments: "_python_batch" if arguments.get("batch_processing") else None)
def python_function(*samples, function, num_outputs=1, batch_processing=False, output_layouts=None):
    """Call a function of the program's own with the arrays of each sample."""
    with _calls:
        results = function(*samples)
    if num_outputs == 0:
        return np.zeros(0, np.uint8)
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != num_outputs:
        raise RuntimeError(got("fn.python_function", f"{len(results)} results", f"num_outputs={num_outputs}"))
    laid = zip(results, _layouts(output_layouts, num_outputs))
    return tuple(Laid(np.asarray(result), layout) for result, layout in laid)


@operator("_python_batch", outputs=_count, kind="batch")
def python_batch(*columns, function, num_outputs=1, batch_processing=True, output_layouts=None, context, count):
    """Call a function of the program's own with lists of all samples' arrays."""
    results = function(*columns)
    results = results if isinstance(results, tuple) else (results,)
    if num_outputs == 0:
        return ([np.zeros(0, np.uint8)] * count,)
    if len(results) != num_outputs or any(len(column) != count for column in results):
        raise RuntimeError(got("fn.python_function", f"{len(results)} lists", f"num_outputs={num_outputs} of {count}"))
    return tuple([Laid(np.asarray(one), layout) for one in column]
                 for column, layout in zip(results, _layouts(output_layouts, num_outputs)))


@operator("dl_tensor_python_function", outputs=_count,
          instead=lambda arguments: "_dlpack_batch" if arguments.get("batch_processing") else None)
def dlpack_function(*samples, function, num_outputs=1, batch_processing=False, output_layouts=None):
    """Call a function of the program's own with each sample's capsules of DLPack."""
    with _calls:
        results = function(*(_capsule(sample) for sample in samples))
    results = results if isinstance(results, tuple) else (results,)
    return tuple(Laid(_opened(one), layout) for one, layout in zip(results, _layouts(output_layouts, num_outputs)))


@operator("_dlpack_batch", outputs=_count, kind="batch")
def dlpack_batch(*columns, function, num_outputs=1, batch_processing=True, output_layouts=None, context, count):
    """Call a function of the program's own with lists of capsules of DLPack."""
    results = function(*([_capsule(sample) for sample in column] for column in columns))
    results = results if isinstance(results, tuple) else (results,)
    return tuple([Laid(_opened(one), layout) for one in column]
                 for column, layout in zip(results, _layouts(output_layouts, num_outputs)))


def _capsule(array):
    return np.array(array).__dlpack__()


class _Capsule:
    """What NumPy takes as an array in a capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def _opened(capsule):
    return np.from_dlpack(capsule if hasattr(capsule, "__dlpack__") else _Capsule(capsule))


@operator()
def dump_image(data, *, suffix="", input_layout="HWC"):
    """Write each picture into a file of the current folder, and return it as it is."""
    from dragon.io.pictures.pillow import pillow
    with _lock:
        number_of = next(_counters.setdefault(suffix, itertools.count()))
    picture = data.transpose(1, 2, 0) if input_layout == "CHW" else data
    image = pillow("fn.dump_image").fromarray(picture[..., 0] if picture.shape[-1] == 1 else picture)
    save_picture(image, f"{number_of}-{suffix}-0.ppm")
    return data
