"""Products of matrices."""
from dragon.onnx.table import maps

# What runtimes multiply matrices of integers in.
GEMM_DTYPES = ("float16", "bfloat16", "float32", "float64")


def add_scaled(w, x, product, beta, alpha):
    """Return beta * x + alpha * product; x is not read if beta is 0."""
    product = product if alpha == 1 else w.Mul(product, alpha)
    if beta == 0:
        return product
    return w.Add(x if beta == 1 else w.Mul(x, beta), product)


@maps("matmul")
def matmul(w, x, y):
    return w.full(w.out.shape, 0, x.dtype) if 0 in [*x.shape, *y.shape] else w.MatMul(x, y)


@maps("addmm")
def addmm(w, x, a, b, beta, alpha):
    if x.dtype not in GEMM_DTYPES:
        return add_scaled(w, x, w.MatMul(a, b), beta, alpha)
    return w.Gemm(a, b, x if beta else None, alpha=float(alpha), beta=float(beta) if beta else None)


@maps("baddbmm")
def baddbmm(w, x, a, b, beta, alpha):
    return add_scaled(w, x, w.MatMul(a, b), beta, alpha)


@maps("linear")
def linear(w, x, weight, bias):
    if 0 in x.shape:
        nothing = w.full(w.out.shape, 0, x.dtype)
        return nothing if bias is None else w.Add(nothing, bias)
    if x.ndim == 2 and weight.ndim == 2 and x.dtype in GEMM_DTYPES:
        return w.Gemm(x, weight, bias, transB=1)
    product = w.MatMul(x, weight if weight.ndim == 1 else w.Transpose(weight, perm=[1, 0]))
    return product if bias is None else w.Add(product, bias)
