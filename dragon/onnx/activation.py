"""Activations, by ONNX's own operators where they have the same parameters."""
import math

from dragon.onnx.table import maps


def sigmoid_log(w, x):
    """Return log(sigmoid(x)) without overflow."""
    return w.Neg(w.Softplus(w.Neg(x)))


@maps("relu6")
def relu6(w, x):
    return w.Min(w.Max(x, 0), 6)


@maps("hardtanh")
def hardtanh(w, x, min_val, max_val):
    return w.Min(w.Max(x, min_val), max_val)


@maps("elu")
def elu(w, x, alpha, scale, input_scale):
    if scale == input_scale == 1:
        return w.Elu(x, alpha=alpha)
    below = w.Mul(w.Sub(w.Exp(w.Mul(w.Min(x, 0), input_scale)), 1), alpha * scale)
    return w.Where(w.Greater(x, 0), w.Mul(x, scale), below)


@maps("celu")
def celu(w, x, alpha):
    if x.dtype == "float32":
        return w.Celu(x, alpha=alpha)
    below = w.Mul(w.Sub(w.Exp(w.Div(w.Min(x, 0), alpha)), 1), alpha)
    return w.Add(w.Max(x, 0), below)


@maps("gelu")
def gelu(w, x, approximate):
    if w.opset >= 20:
        return w.Gelu(x, approximate=approximate)
    if approximate == "none":
        inner = w.Erf(w.Mul(x, math.sqrt(0.5)))
    else:
        cubed = w.Mul(w.Mul(w.Mul(x, x), x), 0.044715)
        inner = w.Tanh(w.Mul(w.Add(x, cubed), math.sqrt(2 / math.pi)))
    return w.Mul(w.Mul(x, w.Add(inner, 1)), 0.5)


@maps("hardsigmoid")
def hardsigmoid(w, x):
    return w.HardSigmoid(x, alpha=1 / 6, beta=0.5)


@maps("leaky_relu")
def leaky_relu(w, x, negative_slope):
    return w.LeakyRelu(x, alpha=negative_slope)


@maps("broadcast_prelu")
def broadcast_prelu(w, x, weight):
    return w.PRelu(x, weight)


@maps("silu")
def silu(w, x):
    return w.Mul(x, w.Sigmoid(x))


@maps("softplus")
def softplus(w, x, beta, threshold):
    inner = x if beta == 1 else w.Mul(x, beta)
    smooth = w.Softplus(inner)
    smooth = smooth if beta == 1 else w.Div(smooth, beta)
    return w.Where(w.Greater(inner, threshold), x, smooth)


@maps("softshrink")
def softshrink(w, x, lambd):
    return w.Shrink(x, lambd=lambd, bias=lambd)


@maps("hardshrink")
def hardshrink(w, x, lambd):
    return w.Shrink(x, lambd=lambd, bias=0.0)


@maps("tanhshrink")
def tanhshrink(w, x):
    return w.Sub(x, w.Tanh(x))


@maps("threshold")
def threshold(w, x, threshold, value):
    return w.Where(w.Greater(x, threshold), x, w.constant(value, x.dtype))


@maps("logsigmoid")
def logsigmoid(w, x):
    return sigmoid_log(w, x)
