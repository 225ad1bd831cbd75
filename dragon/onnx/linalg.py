"""The little linear algebra that ONNX has: determinants."""
from dragon.onnx.table import maps


@maps("linalg_det")
def linalg_det(w, x):
    return w.Det(x)


@maps("linalg_slogdet")
def linalg_slogdet(w, x):
    found = w.Det(x)
    return w.Sign(found), w.Log(w.Abs(found))
