"""Linear operators made of one other or of several: adjoints, inverses, products."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.full import LinearOperatorLowerTriangular
from dragon.vm.tensorflow.core.linear.operator import LinearOperator, makes


class _OfOne(LinearOperator):
    """What adjoints and inverses share: the operator, and claims that hold for both or for none."""

    _RANKS = {"operator": 0}

    def _begin(self, operator, given, word, name):
        self._operator = operator
        known = hints.inherited(operator, given, f"An operator is {{}} if and only if its {word} is {{0}}.")
        LinearOperator.__init__(self, operator.dtype, name=name, **known)

    operator = property(lambda self: self._operator, doc="LinearOperator: what it is made of.")

    def _assert_non_singular(self):
        return self.operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self.operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self.operator.assert_self_adjoint()

    def _cond(self):
        return self.operator.cond()


@makes("adjoint")
class LinearOperatorAdjoint(_OfOne):
    """The adjoint of an operator.

    Parameters
    ----------
    operator : LinearOperator
        The operator.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of it, beyond what is known of the operator.

    """

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        given = dict(zip(hints.NAMES, (is_non_singular, is_self_adjoint, is_positive_definite, is_square)))
        self._begin(operator, given, "adjoint", name or f"{operator.name}_adjoint")

    def _shape(self):
        shape = tuple(self.operator.shape)
        return (*shape[:-2], shape[-1], shape[-2])

    def _linop_adjoint(self):
        return self.operator

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self):
        return algebra.adjoint(take(self.operator.to_dense()))

    def _determinant(self):
        return algebra.conj(self.operator.determinant())

    def _log_abs_determinant(self):
        return self.operator.log_abs_determinant()

    def _trace(self):
        return algebra.conj(self.operator.trace())

    def _eigvals(self):
        return self.operator.eigvals()


@makes("inverse")
class LinearOperatorInversion(_OfOne):
    """The inverse of an operator.

    Parameters
    ----------
    operator : LinearOperator
        The operator.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of it, beyond what is known of the operator.

    """

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        given = dict(zip(hints.NAMES, (is_non_singular, is_self_adjoint, is_positive_definite, is_square)))
        for word in ("is_non_singular", "is_square"):
            if getattr(operator, word) is False or given[word] is False:
                raise ValueError(f"LinearOperatorInversion: got {word}={given[word]} for an operator of which it is "
                                 f"{getattr(operator, word)}, expected neither to be False")
        self._begin(operator, given, "inverse", name or f"{operator.name}_inv")

    def _shape(self):
        return self.operator.shape

    def _linop_inverse(self):
        return self.operator

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self):
        return -self.operator.log_abs_determinant()

    def _eigvals(self):
        return 1.0 / take(self.operator.eigvals())


class OfSeveral(LinearOperator):
    """What operators share that are made of a list of operators of one dtype."""

    _RANKS = {"operators": 0}

    def _begin(self, operators, given, joint, name):
        who = type(self).__name__
        if isinstance(operators, (str, bytes)) or not hasattr(operators, "__iter__"):
            raise TypeError(f"{who}: got operators={operators!r}, expected a list of operators")
        self._operators = list(operators)
        if not self._operators:
            raise ValueError(f"{who}: expected a non-empty list of operators. Found: {operators}")
        dtypes = [one.dtype for one in self._operators]
        if any(dtype != dtypes[0] for dtype in dtypes):
            raise TypeError(f"{who}: expected all operators to have the same dtype. Found "
                            + ", ".join(f"{one.name} {one.dtype.name}" for one in self._operators))
        LinearOperator.__init__(self, dtypes[0], name=name or joint.join(one.name for one in self._operators), **given)

    operators = property(lambda self: self._operators, doc="List[LinearOperator]: what it is made of.")

    def _joint_batch(self):
        return algebra.joint_batch(*(one.batch_shape for one in self._operators))

    def _each(self, method):
        return [getattr(one, method)() for one in self._operators]


def is_with_own_adjoint(operators):
    """Return whether a product is that of operators and their adjoints, from outside to inside."""
    if len(operators) % 2:
        return False
    half = len(operators) // 2
    return all(_are_adjoint(left, right) for left, right in zip(operators[:half], reversed(operators[half:])))


def _are_adjoint(left, right):
    if left is right and left.is_self_adjoint:
        return True
    return any(isinstance(one, LinearOperatorAdjoint) and one.operator is other
               for one, other in ((left, right), (right, left)))


class LinearOperatorComposition(OfSeveral):
    """A product of operators that is not multiplied out.

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
        is_non_singular = hints.of_all(factors, "is_non_singular", is_non_singular, "The composition") \
            if factors else is_non_singular
        own = is_with_own_adjoint(factors)
        if factors and own or len(factors) == 1 and factors[0].is_self_adjoint:
            is_self_adjoint = hints.require(is_self_adjoint, True, "The composition was determined to be self-adjoint "
                                                                   "but user provided incorrect `False` hint.")
        if factors and own:
            is_square = hints.require(is_square, True, "The composition was determined have the form A @ A.H, hence "
                                                       "it must be square.")
            if is_non_singular:
                is_positive_definite = hints.require(
                    is_positive_definite, True, "The composition was determined to be non-singular and have the form "
                                                "A @ A.H, hence it must be positive-definite.")
        given = dict(zip(hints.NAMES, (is_non_singular, is_self_adjoint, is_positive_definite, is_square)))
        self._begin(operators, given, "_o_", name)

    def _shape(self):
        for left, right in zip(self._operators, self._operators[1:]):
            if left.domain_dimension != right.range_dimension:
                raise ValueError(f"LinearOperatorComposition: got operators of shapes {tuple(left.shape)} and "
                                 f"{tuple(right.shape)}, expected {left.domain_dimension} rows of the second")
        return (*self._joint_batch(), self._operators[0].range_dimension, self._operators[-1].domain_dimension)

    def _linop_cholesky(self):
        first = self._operators[0]
        if len(self._operators) == 2 and is_with_own_adjoint(self._operators) \
                and isinstance(first, LinearOperatorLowerTriangular):
            if first.is_positive_definite:
                return first
            signs = ops.unsqueeze(ops.sign(first.diag_part()), -2)
            return LinearOperatorLowerTriangular(take(first.tril) / signs, first.is_non_singular,
                                                 first.is_self_adjoint, is_square=True)
        return super()._linop_cholesky()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        for one in self._operators if adjoint else reversed(self._operators):
            x, adjoint_arg = one.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg), False
        return x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        for one in reversed(self._operators) if adjoint else self._operators:
            rhs, adjoint_arg = one.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg), False
        return rhs

    def _determinant(self):
        first, *others = self._each("determinant")
        for other in others:
            first = first * other
        return first

    def _log_abs_determinant(self):
        return sum(self._each("log_abs_determinant"))

    def _assert_non_singular(self):
        if not all(one.is_square for one in self._operators):
            return super()._assert_non_singular()
        self._each("assert_non_singular")
