"""Products and quotients of linear operators, multiplied out where that is of one of the simple kinds again."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import hints
from dragon.vm.tensorflow.core.linear.blocks import LinearOperatorBlockDiag
from dragon.vm.tensorflow.core.linear.circulant import Circulant
from dragon.vm.tensorflow.core.linear.composed import LinearOperatorComposition, LinearOperatorInversion
from dragon.vm.tensorflow.core.linear.diagonal import LinearOperatorDiag
from dragon.vm.tensorflow.core.linear.full import LinearOperatorLowerTriangular
from dragon.vm.tensorflow.core.linear.operator import makes
from dragon.vm.tensorflow.core.linear.sized import (LinearOperatorIdentity, LinearOperatorScaledIdentity,
                                                    LinearOperatorZeros)

_DIAGONAL = (LinearOperatorDiag, LinearOperatorScaledIdentity)


def _numbers(operator):
    """Return what a diagonal operator multiplies with: its diagonal, or one number at the last axis."""
    return operator._factors()


def _of_diagonals(numbers, left, right):
    """Return the operator of a diagonal that two others make."""
    if isinstance(left, LinearOperatorScaledIdentity) and isinstance(right, LinearOperatorScaledIdentity):
        return LinearOperatorScaledIdentity(left.domain_dimension, ops.squeeze(numbers, -1),
                                            **hints.of_commuting(left, right))
    return LinearOperatorDiag(numbers, **hints.of_commuting(left, right))


def _triangle(matrix, left, right):
    known = hints.of_commuting(left, right)
    return LinearOperatorLowerTriangular(matrix, **{**known, "is_positive_definite": None})


def _zeros(left, right):
    """Return the zeros that a product with zeros is."""
    if not left.is_square or not right.is_square:
        raise ValueError("Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported "
                         "at this time.")
    return left if isinstance(left, LinearOperatorZeros) else right


@makes("product")
def multiply(left, right):
    """Return the product of two operators.

    Parameters
    ----------
    left, right : LinearOperator
        The factors.

    Returns
    -------
    LinearOperator
        One of a simple kind, or a `LinearOperatorComposition`.

    """
    if isinstance(right, LinearOperatorIdentity):
        return left
    if isinstance(left, LinearOperatorIdentity):
        return right
    if isinstance(left, LinearOperatorZeros) or isinstance(right, LinearOperatorZeros):
        return _zeros(left, right)
    if isinstance(left, _DIAGONAL) and isinstance(right, _DIAGONAL):
        return _of_diagonals(_numbers(left) * _numbers(right), left, right)
    if isinstance(left, LinearOperatorDiag) and isinstance(right, LinearOperatorLowerTriangular):
        return _triangle(ops.unsqueeze(take(left.diag), -1) * right.to_dense(), left, right)
    if isinstance(left, LinearOperatorLowerTriangular) and isinstance(right, _DIAGONAL):
        return _triangle(left.to_dense() * ops.unsqueeze(_numbers(right), -2), left, right)
    if isinstance(left, Circulant) and type(left) is type(right):
        return left.with_spectrum(take(left.spectrum) * take(right.spectrum), **hints.of_commuting(left, right))
    if isinstance(left, LinearOperatorBlockDiag) and isinstance(right, LinearOperatorBlockDiag):
        return _of_blocks("matmul", left, right)
    return LinearOperatorComposition([left, right], **hints.of_product(left, right))


def _of_blocks(method, left, right):
    blocks = [getattr(one, method)(two) for one, two in zip(left.operators, right.operators)]
    return LinearOperatorBlockDiag(blocks, hints.both_regular(left, right), None, None, True)


@makes("quotient")
def divide(left, right):
    """Return the inverse of an operator multiplied with another.

    Parameters
    ----------
    left, right : LinearOperator
        The one whose inverse it is, and the other.

    Returns
    -------
    LinearOperator
        One of a simple kind, or a `LinearOperatorComposition`.

    """
    if isinstance(left, LinearOperatorIdentity):
        return right
    if isinstance(left, LinearOperatorInversion):
        return left.operator.matmul(right)
    if isinstance(right, LinearOperatorIdentity):
        return left.inverse()
    if isinstance(left, _DIAGONAL) and isinstance(right, _DIAGONAL):
        return _of_diagonals(_numbers(right) / _numbers(left), left, right)
    if isinstance(left, LinearOperatorDiag) and isinstance(right, LinearOperatorLowerTriangular):
        return _triangle(right.to_dense() / ops.unsqueeze(take(left.diag), -1), left, right)
    if isinstance(left, Circulant) and type(left) is type(right):
        return left.with_spectrum(take(right.spectrum) / take(left.spectrum), **hints.of_commuting(left, right))
    if isinstance(left, LinearOperatorBlockDiag) and isinstance(right, LinearOperatorBlockDiag):
        return _of_blocks("solve", left, right)
    return LinearOperatorComposition([LinearOperatorInversion(left), right], **hints.of_product(left, right))
