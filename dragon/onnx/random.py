"""Random numbers: ONNX has its own generators, so these agree with the engine in distribution only."""
from onnx import helper

from dragon.onnx.table import maps, row_function
from dragon.onnx.writer import ELEMENTS


@row_function
def drawn(w, op, x, **options):
    """Write a generator in the dtype of the result, or float32 where it knows no other."""
    dtype = w.out.dtype if w.out.dtype in ("float32", "float64") else "float32"
    made = w.add(op, w.cast(x, "float32") if x.dtype == "bfloat16" else x, **options)
    w.nodes[-1].attribute.append(helper.make_attribute("dtype", ELEMENTS[dtype]))
    made.dtype = dtype
    return made


@row_function
def unit(w, x):
    """Return uniform numbers in [0, 1), in the shape of x."""
    return drawn(w, "RandomUniformLike", x, low=0.0, high=1.0)


@maps("random")
def integers(w, x, low, high, generator):
    if high is None:
        w.refuse("integers without an upper bound")
    low = low or 0
    return w.Floor(w.Min(drawn(w, "RandomUniformLike", x, low=float(low), high=float(high)), high - 1))


@maps("randperm")
def randperm(w, n, generator, dtype, device):
    numbers = unit(w, w.full([n], 0, "float32"))
    _, places = w.TopK(numbers, [n], axis=0, outputs=2)
    return places


@maps("native_dropout")
def native_dropout(w, x, p, training, generator):
    if not training:
        return x, w.expand(w.constant(True), x.shape)
    y, mask = w.Dropout(x, w.constant(p, "float32"), w.constant(True), outputs=2)
    return y, mask
