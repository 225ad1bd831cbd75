"""Operators of matrices and of Fourier's transforms."""
from dragon.vm.tensorflow import linalg, signal
from dragon.vm.tensorflow.core.saved_model.table import enter, operator, rows
from dragon.vm.tensorflow.core.saved_model.values import number, numbers, tensor

rows(linalg, """
Cholesky cholesky
Cross cross
MatrixDeterminant det
MatrixDiag diag
MatrixDiagPart diag_part
MatrixSetDiag set_diag
MatrixExponential expm
MatrixLogarithm logm
MatrixSquareRoot sqrtm
Diag tensor_diag
DiagPart tensor_diag_part
""")


@operator("MatMul")
def _matmul(node, a, b):
    return linalg.matmul(tensor(a), tensor(b), transpose_a=node.get("transpose_a", False),
                         transpose_b=node.get("transpose_b", False))


@operator("BatchMatMul BatchMatMulV2 BatchMatMulV3")
def _batch_matmul(node, a, b):
    return linalg.matmul(tensor(a), tensor(b), adjoint_a=node.get("adj_x", False), adjoint_b=node.get("adj_y", False))


@operator("Einsum")
def _einsum(node, *operands):
    return linalg.einsum(node.get("equation"), *[tensor(operand) for operand in operands])


@operator("MatrixInverse")
def _inverse(node, x):
    return linalg.inv(tensor(x), adjoint=node.get("adjoint", False))


@operator("MatrixSolve")
def _solve(node, matrix, right):
    return linalg.solve(tensor(matrix), tensor(right), adjoint=node.get("adjoint", False))


@operator("MatrixTriangularSolve")
def _triangular_solve(node, matrix, right):
    return linalg.triangular_solve(tensor(matrix), tensor(right), lower=node.get("lower", True),
                                   adjoint=node.get("adjoint", False))


@operator("LogMatrixDeterminant")
def _log_determinant(node, x):
    return tuple(linalg.slogdet(tensor(x)))


@operator("Qr")
def _qr(node, x):
    return tuple(linalg.qr(tensor(x), full_matrices=node.get("full_matrices", False)))


@operator("Svd")
def _svd(node, x):
    if not node.get("compute_uv", True):
        return linalg.svd(tensor(x), compute_uv=False), None, None
    return tuple(linalg.svd(tensor(x), full_matrices=node.get("full_matrices", False)))


@operator("SelfAdjointEigV2")
def _eigh(node, x):
    if not node.get("compute_v", True):
        return linalg.eigvalsh(tensor(x)), None
    return tuple(linalg.eigh(tensor(x)))


@operator("Lu")
def _lu(node, x):
    return tuple(linalg.lu(tensor(x), output_idx_type=node.get("output_idx_type", "int32")))


@operator("MatrixDiagV2 MatrixDiagV3")
def _diag(node, diagonal, k, num_rows, num_cols, padding):
    return linalg.diag(tensor(diagonal), k=_bounds(k), num_rows=number(num_rows), num_cols=number(num_cols),
                       padding_value=_plain_number(padding), align=node.get("align", "RIGHT_LEFT"))


@operator("MatrixDiagPartV2 MatrixDiagPartV3")
def _diag_part(node, x, k, padding):
    return linalg.diag_part(tensor(x), k=_bounds(k), padding_value=_plain_number(padding),
                            align=node.get("align", "RIGHT_LEFT"))


@operator("MatrixSetDiagV2 MatrixSetDiagV3")
def _set_diag(node, x, diagonal, k):
    return linalg.set_diag(tensor(x), tensor(diagonal), k=_bounds(k), align=node.get("align", "RIGHT_LEFT"))


def _bounds(k):
    """Return which diagonals are meant: a number or two."""
    found = numbers(k)
    return found if not isinstance(found, list) else found[0] if len(found) == 1 else tuple(found)


def _plain_number(value):
    return tensor(value).numpy().item()


@operator("TridiagonalSolve")
def _tridiagonal_solve(node, diagonals, right):
    return linalg.tridiagonal_solve(tensor(diagonals), tensor(right),
                                    partial_pivoting=node.get("partial_pivoting", True))


def _enter_transform(op, name):
    enter(op, lambda node, x: getattr(signal, name)(tensor(x)))


def _enter_real_transform(op, name):
    def run(node, x, length):
        found = numbers(length)
        return getattr(signal, name)(tensor(x), found)
    enter(op, run)


for _op in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"):
    _enter_transform(_op, _op.lower())
for _op in ("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D"):
    _enter_real_transform(_op, _op.lower())
