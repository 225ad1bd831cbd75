"""Kronecker products of linear operators."""
import math

from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.composed import OfSeveral


class LinearOperatorKronecker(OfSeveral):
    """The Kronecker product of operators, which is not multiplied out: each goes along an axis of its own.

    Parameters
    ----------
    operators : Sequence[LinearOperator]
        The factors, from the left.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the product.

    """

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        factors = list(operators) if hasattr(operators, "__iter__") else []
        given = dict(zip(hints.NAMES, (is_non_singular, is_self_adjoint, is_positive_definite, is_square)))
        for word in hints.NAMES[:3] if factors else ():
            given[word] = hints.of_all(factors, word, given[word], "The Kronecker product")
        self._begin(operators, given, "_x_", name)

    def _shape(self):
        return (*self._joint_batch(), math.prod(one.range_dimension for one in self._operators),
                math.prod(one.domain_dimension for one in self._operators))

    def _through(self, x, adjoint, adjoint_arg, method):
        """Return what every factor makes of its own axis of the rows of x."""
        x = algebra.adjoint(x) if adjoint_arg else x
        turned = (method == "solve") != adjoint
        sizes = [one.range_dimension if turned else one.domain_dimension for one in self._operators]
        batch, columns = tuple(algebra.joint_batch(x.shape[:-2], self._joint_batch())), x.shape[-1]
        x = ops.broadcast_to(x, (*batch, *x.shape[-2:]))
        before = 1
        for place, (one, size) in enumerate(zip(self._operators, sizes), 1):
            # The rows are looked at as (before, own, after): matrices whose rows are the factor's own.
            after = math.prod(sizes[place:]) * columns
            x = ops.reshape(x, (*batch, before, size, after))
            x = ops.reshape(ops.moveaxis(x, -3, -2), (*batch, size, before * after))
            x = getattr(one, method)(x, adjoint=adjoint)
            own = x.shape[-2]
            x = ops.moveaxis(ops.reshape(x, (*batch, own, before, after)), -2, -3)
            before *= own
        return ops.reshape(x, (*batch, before, columns))

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._through(x, adjoint, adjoint_arg, "matmul")

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._through(rhs, adjoint, adjoint_arg, "solve")

    def _with(self, method, known):
        return LinearOperatorKronecker(self._each(method), **known)

    def _linop_adjoint(self):
        return self._with("adjoint", hints.of(self))

    def _linop_inverse(self):
        return self._with("inverse", hints.of(self))

    def _linop_cholesky(self):
        return self._with("cholesky", {"is_non_singular": True, "is_square": True})

    def _require_square_factors(self):
        if not all(one.is_square for one in self._operators):
            algebra.fail("All Kronecker factors must be square for the product to be invertible. Expected hint "
                         "`is_square` to be True for every operator in argument `operators`.")

    def _determinant(self):
        made = None
        for one in self._operators:
            own = ops.pow(one.determinant(), self.domain_dimension // max(one.domain_dimension, 1))
            made = own if made is None else made * own
        return made

    def _log_abs_determinant(self):
        return sum(one.log_abs_determinant() * (self.domain_dimension // max(one.domain_dimension, 1))
                   for one in self._operators)

    def _trace(self):
        if not all(one.is_square for one in self._operators):
            return super()._trace()
        first, *others = self._each("trace")
        for other in others:
            first = first * other
        return first

    def _outer(self, vectors):
        """Return the Kronecker product of vectors."""
        first, *others = vectors
        for other in others:
            made = ops.unsqueeze(first, -1) * ops.unsqueeze(other, -2)
            first = ops.reshape(made, (*made.shape[:-2], made.shape[-2] * made.shape[-1]))
        return first

    def _diag_part(self):
        if not all(one.is_square for one in self._operators):
            return super()._diag_part()
        return self._outer(self._each("diag_part"))

    def _eigvals(self):
        return self._outer(self._each("eigvals"))

    def _to_dense(self):
        first, *others = self._each("to_dense")
        for other in others:
            made = ops.unsqueeze(ops.unsqueeze(first, -1), -3) * ops.unsqueeze(ops.unsqueeze(other, -2), -4)
            rows, inner, columns, within = made.shape[-4:]
            first = ops.reshape(made, (*made.shape[:-4], rows * inner, columns * within))
        return first

    def _assert_non_singular(self):
        self._require_square_factors()
        self._each("assert_non_singular")

    def _assert_self_adjoint(self):
        self._require_square_factors()
        self._each("assert_self_adjoint")
