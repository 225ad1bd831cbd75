"""What no runtime of ONNX knows, and formats that are written by way of ONNX do: notes, and draws by a seed.

These nodes are written only while notes are taken (`dragon/core/capture/host_calls.py`).
"""
from onnx import helper

from dragon.core.capture.host_calls import is_noting
from dragon.onnx.size import Size
from dragon.onnx.table import maps
from dragon.onnx.writer import DOMAIN, ELEMENTS


def _declare(w, made):
    """Have a value's number of axes be known: nobody infers the shapes of these nodes."""
    shape = [None if isinstance(size, Size) else int(size) for size in made.shape]
    w.infos.append(helper.make_tensor_value_info(made.name, ELEMENTS[made.dtype], shape))
    return made


@maps("host_call")
def host_call(w, inputs, function, generator):
    if function >= 0 or not is_noting():
        w.refuse("a function of Python, which runs in the process that captured it alone")
    made = w.add("Note", *inputs, domain=DOMAIN, dtype="bool", number=-function)
    made.dtype, made.shape = "bool", ()
    return _declare(w, made)


def _of_note(w, seed):
    """Return whether a seed of two numbers stands for the results of a note; one of three is to be drawn from."""
    if seed.shape != (2,):
        return False
    call = w.producers.get(id(seed))
    while call is not None and call.op != "host_call" and call.op in ("expand", "cast", "to_row_major", "clone"):
        call = w.producers.get(id(next(iter(call.inputs))))
    return call is not None and call.op == "host_call"


@maps("stateless_uniform", "stateless_normal", "stateless_truncated_normal", "stateless_integers")
def stateless(w, seed, shape, dtype, device=None, **options):
    if not is_noting():
        w.refuse("numbers that follow from a seed")
    name = "".join(word.title() for word in w.call.op.split("_"))
    sizes = None if _of_note(w, seed) else list(shape)
    made = w.add(name, seed, sizes, domain=DOMAIN, dtype=w.out.dtype, to=ELEMENTS[w.out.dtype], words=seed.shape[0],
                 **{key: value for key, value in options.items() if value is not None})
    made.dtype, made.shape = w.out.dtype, w.out.shape
    return _declare(w, made)


@maps("stateless_categorical")
def categorical(w, seed, logits, samples):
    if not is_noting():
        w.refuse("numbers that follow from a seed")
    made = w.add("StatelessCategorical", seed, w.cast(logits, "float32"), domain=DOMAIN, dtype="int64",
                 words=seed.shape[0], samples=samples)
    made.dtype, made.shape = "int64", w.out.shape
    return _declare(w, made)
