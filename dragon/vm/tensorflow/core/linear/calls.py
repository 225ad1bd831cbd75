"""The functions of `tf.linalg` that take linear operators in the place of matrices."""
from dragon.vm.tensorflow.core.extension.dispatching import dispatch_for_api
from dragon.vm.tensorflow.core.linear import algebra
from dragon.vm.tensorflow.core.linear.operator import LinearOperator
from dragon.vm.tensorflow.core.numbers import matrices, solving


@dispatch_for_api(matrices.adjoint, {"matrix": LinearOperator})
def _adjoint(matrix, name=None):
    return matrix.adjoint()


@dispatch_for_api(matrices.cholesky, {"input": LinearOperator})
def _cholesky(input, name=None):
    return input.cholesky()


@dispatch_for_api(matrices.diag_part, {"input": LinearOperator})
def _diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    if k != 0:
        raise NotImplementedError(f"tf.linalg.diag_part: got k={k!r} for an operator, expected 0")
    return input.diag_part()


@dispatch_for_api(matrices.det, {"input": LinearOperator})
def _det(input, name=None):
    return input.determinant()


@dispatch_for_api(solving.inv, {"input": LinearOperator})
def _inv(input, adjoint=False, name=None):
    inverse = input.inverse()
    return inverse.adjoint() if adjoint else inverse


@dispatch_for_api(matrices.logdet, {"matrix": LinearOperator})
def _logdet(matrix, name=None):
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant()
    raise ValueError("Expected matrix to be self-adjoint positive definite.")


@dispatch_for_api(matrices.trace, {"x": LinearOperator})
def _trace(x, name=None):
    return x.trace()


@dispatch_for_api(matrices.matmul, {"a": LinearOperator}, {"b": LinearOperator})
def _matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
            b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if output_type is not None or grad_a or grad_b:
        raise NotImplementedError(f"tf.matmul: got output_type={output_type}, grad_a={grad_a}, grad_b={grad_b} for an "
                                  "operator, expected none of them")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    return algebra.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a))


@dispatch_for_api(solving.solve, {"matrix": LinearOperator}, {"rhs": LinearOperator})
def _solve(matrix, rhs, adjoint=False, name=None):
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint)
