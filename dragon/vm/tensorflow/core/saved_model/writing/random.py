"""Draws as TensorFlow's nodes: by a seed of two numbers, by a counter and a key, and those that count their calls."""
from dragon.onnx.writer import DOMAIN
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.images import cut
from dragon.vm.tensorflow.core.saved_model.writing.notes import says
from dragon.vm.tensorflow.core.saved_model.writing.translation import DTYPES, handles

INT32, INT64, UINT64 = (as_dtype(name) for name in ("int32", "int64", "uint64"))
PHILOX = 1  # the number of the algorithm
# Of each operator the node that counts its calls, and that of a seed.
REALS = {"StatelessUniform": ("RandomUniform", "StatelessRandomUniformV2"),
         "StatelessNormal": ("RandomStandardNormal", "StatelessRandomNormalV2"),
         "StatelessTruncatedNormal": ("TruncatedNormal", "StatelessTruncatedNormalV2")}


@says("stream")
def _stream(b, note, ends):
    """Write nothing: whoever draws from the stream is the node."""


def _key_and_counter(b, call):
    """Return the key and the counter of a seed of two numbers, or of a stream of three: its counter and its key."""
    seed = call.end(0)
    if call.get("words") == 3:
        return tuple(b.node("Bitcast", [cut(b, seed, *ends)], UINT64, 1, T=INT64, type=UINT64)
                     for ends in ((2, 3), (0, 2)))
    key = b.node("StatelessRandomGetKeyCounter", [seed], UINT64, 1, result="key", Tseed=seed.dtype)
    return key, End(key.text.replace(":key:", ":counter:"), UINT64, 1)


def _drawn(b, call, ops, more=(), **attributes):
    """Return the numbers of a stream that counts its calls, or of a seed.

    Parameters
    ----------
    b : Builder
        The function.
    call : Call
        The node of ONNX: a seed, and a shape.
    ops : Tuple[str, str]
        TensorFlow's operators of either.
    more : Sequence[End], optional
        Further operands.
    **attributes : Any
        The dtype, by the name that the first operator has for it.

    """
    shape, note = call.end(1), getattr(call.end(0), "note", None)
    rank = None if call.end(1).number is None else call.end(1).number.size
    dtype = attributes.get("dtype") or attributes["Tout"]
    if note is not None:
        first, second = note.details["seeds"]
        return b.node(ops[0], [shape, *more], dtype, rank, T=shape.dtype, seed=first or 0, seed2=second or 0,
                      **attributes)
    key, counter = _key_and_counter(b, call)
    return b.node(ops[1], [shape, key, counter, b.constant(PHILOX, INT32), *more], dtype, rank, Tshape=shape.dtype,
                  dtype=dtype)


def _result_of_note(call):
    """Return the result of a note that a draw stands for; None if it is a draw."""
    note = getattr(call.end(0), "note", None)
    return None if note is None or note.kind == "stream" else call.end(0).made[int(call.get("low"))]


@handles(*(f"{DOMAIN}.{name}" for name in REALS))
def _reals(b, call):
    found, dtype = _result_of_note(call), as_dtype(DTYPES[call.get("to")])
    if found is not None:
        return found
    found = _drawn(b, call, REALS[call.op], dtype=dtype)
    low, high = call.get("low", 0.0), call.get("high", 1.0)
    scale, shift = (high - low, low) if call.op == "StatelessUniform" else (call.get("std", 1.0), call.get("mean", 0.0))
    found = found if scale == 1 else b.binary("Mul", found, b.constant(scale, dtype))
    return found if shift == 0 else b.binary("AddV2", found, b.constant(shift, dtype))


@handles(f"{DOMAIN}.StatelessIntegers")
def _integers(b, call):
    found, dtype = _result_of_note(call), as_dtype(DTYPES[call.get("to")])
    if found is not None:
        return found
    if call.get("low") is None:
        if getattr(call.end(0), "note", None) is not None:
            raise call.refusal("without bounds and without a seed is not supported")
        return _drawn(b, call, (None, "StatelessRandomUniformFullIntV2"), dtype=dtype)
    bounds = [b.constant(call.get(name), dtype) for name in ("low", "high")]
    return _drawn(b, call, ("RandomUniformInt", "StatelessRandomUniformIntV2"), bounds, Tout=dtype)


@handles(f"{DOMAIN}.StatelessCategorical")
def _categories(b, call):
    seed, logits = call.ends
    options = {"T": logits.dtype, "output_dtype": INT64}
    count, note = b.constant(call.get("samples"), INT32), getattr(seed, "note", None)
    if note is not None:
        first, second = note.details["seeds"]
        return b.node("Multinomial", [logits, count], INT64, 2, seed=first or 0, seed2=second or 0, **options)
    if call.get("words") == 3:
        raise call.refusal("of a generator's state is not supported")
    return b.node("StatelessMultinomial", [logits, count, seed], INT64, 2, Tseed=seed.dtype, **options)
