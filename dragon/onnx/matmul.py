"""Products of matrices."""
from dragon.onnx.table import maps


@maps("linear")
def linear(w, x, weight, bias):
    if 0 in x.shape:
        nothing = w.full(w.out.shape, 0, x.dtype)
        return nothing if bias is None else w.Add(nothing, bias)
    if x.ndim == 2 and weight.ndim == 2 and x.is_float:
        return w.Gemm(x, weight, bias, transB=1)
    product = w.MatMul(x, weight if weight.ndim == 1 else w.Transpose(weight, perm=[1, 0]))
    return product if bias is None else w.Add(product, bias)
