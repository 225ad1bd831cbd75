"""Random numbers: ONNX has its own generators, so these agree with the engine in distribution only."""
import math

from onnx import helper

from dragon.onnx.table import maps
from dragon.onnx.writer import ELEMENTS


def drawn(w, op, x, **options):
    """Write a generator in the dtype of the result, or float32 where it knows no other."""
    dtype = w.out.dtype if w.out.dtype in ("float32", "float64") else "float32"
    made = w.add(op, w.cast(x, "float32") if x.dtype == "bfloat16" else x, **options)
    w.nodes[-1].attribute.append(helper.make_attribute("dtype", ELEMENTS[dtype]))
    made.dtype = dtype
    return made


def unit(w, x):
    """Return uniform numbers in [0, 1), in the shape of x."""
    return drawn(w, "RandomUniformLike", x, low=0.0, high=1.0)


@maps("uniform")
def uniform(w, x, low, high, generator):
    return drawn(w, "RandomUniformLike", x, low=float(low), high=float(high))


@maps("normal")
def normal(w, x, mean, std, generator):
    return drawn(w, "RandomNormalLike", x, mean=float(mean), scale=float(std))


@maps("log_normal")
def log_normal(w, x, mean, std, generator):
    return w.Exp(drawn(w, "RandomNormalLike", x, mean=float(mean), scale=float(std)))


@maps("cauchy")
def cauchy(w, x, median, sigma, generator):
    return w.Add(w.Mul(w.Tan(w.Mul(w.Sub(unit(w, x), 0.5), math.pi)), sigma), median)


@maps("exponential")
def exponential(w, x, rate, generator):
    return w.Div(w.Neg(w.Log(w.Sub(1, unit(w, x)))), rate)


@maps("geometric")
def geometric(w, x, p, generator):
    trials = w.Ceil(w.Div(w.Log(w.Sub(1, unit(w, x))), math.log1p(-p)))
    return w.Max(trials, 1)


@maps("bernoulli_like")
def bernoulli_like(w, x, p, generator):
    return w.Less(unit(w, x), p)


@maps("bernoulli")
def bernoulli(w, p, generator):
    return w.Less(unit(w, p), w.cast(p, "float64" if w.out.dtype == "float64" else "float32"))


@maps("bernoulli_of")
def bernoulli_of(w, x, p, generator):
    return w.Less(unit(w, x), w.cast(p, "float64" if w.out.dtype == "float64" else "float32"))


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
