"""`tf.linalg`: products, norms, decompositions and solutions of matrices."""
from dragon.vm.tensorflow.core.numbers.clipping import global_norm  # noqa: F401
from dragon.vm.shared.arrays.creation import eye  # noqa: F401
from dragon.vm.tensorflow.core.numbers.matrices import (  # noqa: F401
    adjoint, band_part, cholesky, cross, det, diag, diag_part, eig, eigh, eigvals, eigvalsh, einsum, expm, logdet, logm,
    lu, matmul, matrix_rank, matrix_transpose, matvec, norm, normalize, pinv, qr, set_diag, slogdet, sqrtm, svd,
    tensor_diag, tensor_diag_part, tensordot, trace)
from dragon.vm.shared.arrays.reducing import l2_normalize  # noqa: F401
from dragon.vm.tensorflow.core.numbers.solving import (  # noqa: F401
    banded_triangular_solve, cholesky_solve, inv, lstsq, lu_matrix_inverse, lu_reconstruct, lu_solve, solve,
    triangular_solve, tridiagonal_matmul, tridiagonal_solve)
