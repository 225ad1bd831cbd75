"""`tf.linalg.LinearOperator`: what all classes of linear operators can do, by way of the whole matrix if need be."""
import functools
import inspect

import numpy as np

from dragon.vm.shared import nest
from dragon.vm.shared.arrays.creation import eye
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int32
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.linear import algebra, hints
from dragon.vm.tensorflow.core.linear.slicing import part
from dragon.vm.tensorflow.core.module import Module
from dragon.vm.tensorflow.core.numbers import matrices

# How operators are made of operators, by what is made; the files of those classes, which stand above, fill it.
MAKERS = {}


def makes(what):
    """Return a decorator for the function that makes an operator of operators."""
    return lambda function: MAKERS.setdefault(what, function)


def _noting(constructor):
    """Return a constructor that notes the arguments of an object of the class that it is called for."""
    signature = inspect.signature(constructor)

    @functools.wraps(constructor)
    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        self.__dict__.setdefault("_given", given)
        constructor(self, *args, **kwargs)
    return __init__


class LinearOperator(Module):
    """A matrix, or a batch of them, that is known by what it does to vectors.

    A class of users has `_shape` and `_matmul`; other methods with a mark, such as `_solve`, `_determinant` or
    `_diag_part`, say how it is done without the whole matrix.

    Parameters
    ----------
    dtype : DType
        Of the matrix, and of what it is multiplied with.
    graph_parents : Sequence[Tensor], optional
        Kept for who asks.
    is_non_singular, is_self_adjoint, is_positive_definite, is_square : bool, optional
        What is known of the matrix; it is believed.
    name : str, optional
        By default that of the class.
    parameters : Dict[str, Any], optional
        The arguments that such an object is made of.

    """

    _TF_MODULE_IGNORED_PROPERTIES = frozenset({"_given"})
    _RANKS = {}  # of the parameters that have a batch: how many axes of each are the matrix's

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = _noting(cls.__init__)

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name=None, parameters=None):
        if is_positive_definite:
            is_non_singular = hints.require(is_non_singular, True, "A positive definite matrix is always non-singular.")
        if is_non_singular:
            is_square = hints.require(is_square, True, "A non-singular matrix is always square.")
        if is_self_adjoint:
            is_square = hints.require(is_square, True, "A self-adjoint matrix is always square.")
        self._square, self._dtype = is_square, as_dtype(dtype) if dtype else dtype
        self._regular, self._own_adjoint, self._definite = is_non_singular, is_self_adjoint, is_positive_definite
        for place, item in enumerate(graph_parents or ()):
            if not hasattr(item, "dtype"):
                raise ValueError(f"Graph parent item {place} is not a Tensor; {item}.")
        self._graph_parents = list(graph_parents or ())
        if parameters is not None:
            self._given = dict(parameters)
        self._name = name or type(self).__name__

    dtype = property(lambda self: self._dtype, doc="DType: of the matrix.")
    name = property(lambda self: self._name, doc="str: the name.")
    graph_parents = property(lambda self: self._graph_parents, doc="List[Tensor]: what the user said they are.")
    parameters = property(lambda self: dict(self._given), doc="Dict[str, Any]: the arguments that it is made of.")
    is_non_singular = property(lambda self: self._regular, doc="Optional[bool]: whether there is an inverse.")
    is_self_adjoint = property(lambda self: self._own_adjoint, doc="Optional[bool]: whether it is its own adjoint.")
    is_positive_definite = property(lambda self: self._definite,
                                    doc="Optional[bool]: whether x @ A @ x is positive for all x but zero.")

    @property
    def is_square(self):
        """Optional[bool]: whether there are as many rows as columns."""
        same = self.domain_dimension == self.range_dimension
        if self._square is False and same:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return same if self._square is None else self._square

    # --- parts

    kept_in_parts = False  # no tensor to tf.is_tensor, though it is made of such

    def _own_parts(self):
        """Return the arguments, by name, that are tensors or operators, or lists of operators."""
        found = {}
        for name in sorted(self._RANKS):
            value = self._given.get(name)
            if value is not None:
                found[name] = value if isinstance(value, (list, tuple, LinearOperator)) and name in (
                    "operators", "operator", "base_operator") else convert_to_tensor(value)
        return found

    def _component_tensors(self):
        return nest.flatten(list(self._own_parts().values()), expand_composites=True)

    def _from_components(self, parts):
        """Return such an operator of other tensors."""
        own = self._own_parts()
        made = nest.pack_sequence_as(list(own.values()), list(parts), expand_composites=True)
        return type(self)(**{**self._given, **dict(zip(own, made))})

    # --- sizes

    def _shape(self):
        raise NotImplementedError(f"{type(self).__name__}._shape is not implemented.")

    shape = property(lambda self: TensorShape(self._shape()), doc="TensorShape: of the batch and the matrix.")
    batch_shape = property(lambda self: self.shape[:-2], doc="TensorShape: of the batch.")
    tensor_rank = property(lambda self: len(self.shape), doc="int: how many axes there are.")
    domain_dimension = property(lambda self: self.shape[-1], doc="int: the number of columns.")
    range_dimension = property(lambda self: self.shape[-2], doc="int: the number of rows.")

    def shape_tensor(self, name="shape_tensor"):
        """Return the shape as a tensor."""
        return convert_to_tensor(tuple(self.shape), int32)

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """Return the batch's shape as a tensor."""
        return convert_to_tensor(tuple(self.batch_shape), int32)

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """Return the number of axes as a tensor."""
        return convert_to_tensor(self.tensor_rank, int32)

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """Return the number of columns as a tensor."""
        return convert_to_tensor(self.domain_dimension, int32)

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """Return the number of rows as a tensor."""
        return convert_to_tensor(self.range_dimension, int32)

    # --- claims

    def assert_non_singular(self, name="assert_non_singular"):
        """Raise an InvalidArgumentError if there is no inverse, as far as the dtype can tell."""
        return self._assert_non_singular()

    def assert_positive_definite(self, name="assert_positive_definite"):
        """Raise an InvalidArgumentError if the matrix is not positive definite."""
        return self._assert_positive_definite()

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """Raise an InvalidArgumentError if the matrix is not its own adjoint."""
        return self._assert_self_adjoint()

    def _assert_non_singular(self):
        if self._is_definite():
            return self.assert_positive_definite()
        precision = float(np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps)
        greatest = 1.0 / (precision * max(100.0, *self.shape[-2:]))
        condition = algebra.ends(ops.linalg_svdvals(take(self.to_dense())))
        return algebra.require(ops.lt(condition, greatest), "Singular matrix up to precision epsilon.")

    def _assert_positive_definite(self):
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        lower = matrices.cholesky(self.to_dense())
        return algebra.require_positive(algebra.diag_part(lower), "Matrix was not positive definite.")

    def _assert_self_adjoint(self):
        dense = take(self.to_dense())
        return algebra.require(ops.eq(dense, algebra.adjoint(dense)), "Matrix was not equal to its adjoint.")

    def _is_definite(self):
        return self.is_self_adjoint and self.is_positive_definite

    # --- products

    def _checked(self, x, axis, size, who):
        """Return an operand as a tensor, if its dtype and a size are the operator's."""
        x = convert_to_tensor(x)
        if x.dtype != self.dtype:
            raise TypeError(f"{who}: expected argument to have dtype {self.dtype}. Found: {x.dtype} in tensor {x}")
        if x.ndim < -axis or x.shape[axis] != size:
            raise ValueError(f"{who}: got an operand of shape {tuple(x.shape)}, expected {size} at axis {axis} for the "
                             f"operator of shape {tuple(self.shape)}")
        return x

    def _sides(self, other, adjoint, adjoint_arg, word):
        """Return this operator and another, adjoined if asked, if they fit each other."""
        left, right = self.adjoint() if adjoint else self, other.adjoint() if adjoint_arg else other
        if right.range_dimension != left.domain_dimension:
            raise ValueError(f"Operators are incompatible. Expected `{word}` to have dimension {left.domain_dimension} "
                             f"but got {right.range_dimension}.")
        return left, right

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """Return the product with matrices, or with another operator.

        Parameters
        ----------
        x : Union[Tensor, LinearOperator]
            Matrices of the same dtype.
        adjoint, adjoint_arg : bool, optional, default=False
            Whether the operator, or `x`, is adjoined first.

        Returns
        -------
        Union[Tensor, LinearOperator]
            The product.

        """
        if isinstance(x, LinearOperator):
            return MAKERS["product"](*self._sides(x, adjoint, adjoint_arg, "x"))
        x = self._checked(x, -1 if adjoint_arg else -2, self.shape[-2 if adjoint else -1], f"{self.name}.matmul")
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        raise NotImplementedError(f"{type(self).__name__}._matmul is not implemented.")

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """Return the product with vectors."""
        x = self._checked(x, -1, self.shape[-2 if adjoint else -1], f"{self.name}.matvec")
        return self._matvec(x, adjoint=adjoint)

    def _matvec(self, x, adjoint=False):
        return ops.squeeze(self._matmul(ops.unsqueeze(x, -1), adjoint=adjoint), -1)

    # --- equations

    def _require_solvable(self):
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """Return x with operator @ x = rhs.

        Parameters
        ----------
        rhs : Union[Tensor, LinearOperator]
            Matrices of the same dtype.
        adjoint, adjoint_arg : bool, optional, default=False
            Whether the operator, or `rhs`, is adjoined first.

        Returns
        -------
        Union[Tensor, LinearOperator]
            The solution.

        """
        self._require_solvable()
        if isinstance(rhs, LinearOperator):
            return MAKERS["quotient"](*self._sides(rhs, adjoint, adjoint_arg, "rhs"))
        rhs = self._checked(rhs, -1 if adjoint_arg else -2, self.shape[-1 if adjoint else -2], f"{self.name}.solve")
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs, dense = algebra.adjoint(rhs) if adjoint_arg else rhs, take(self.to_dense())
        if self._is_definite():
            return algebra.solve_definite(dense, rhs)
        return algebra.solve(dense, rhs, adjoint)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """Return x with operator @ x = rhs, of vectors."""
        rhs = self._checked(rhs, -1, self.shape[-1 if adjoint else -2], f"{self.name}.solvevec")
        self._require_solvable()
        return self._solvevec(rhs, adjoint=adjoint)

    def _solvevec(self, rhs, adjoint=False):
        return ops.squeeze(self._solve(ops.unsqueeze(rhs, -1), adjoint=adjoint), -1)

    # --- operators made of it

    def adjoint(self, name="adjoint"):
        """Return the operator with rows and columns exchanged, conjugated."""
        return self if self.is_self_adjoint is True else self._linop_adjoint()

    H = property(adjoint, doc="LinearOperator: the adjoint.")

    def _linop_adjoint(self):
        return MAKERS["adjoint"](self)

    def inverse(self, name="inverse"):
        """Return the inverse operator."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._linop_inverse()

    def _linop_inverse(self):
        return MAKERS["inverse"](self)

    def cholesky(self, name="cholesky"):
        """Return the lower triangle whose product with its adjoint this operator is."""
        if not self._is_definite():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._linop_cholesky()

    def _linop_cholesky(self):
        return MAKERS["triangle"](matrices.cholesky(self.to_dense()), **hints.TRIANGLE)

    # --- numbers

    def to_dense(self, name="to_dense"):
        """Return the whole matrix."""
        return self._to_dense()

    def _to_dense(self):
        return self.matmul(eye(self.domain_dimension, batch_shape=tuple(self.batch_shape), dtype=self.dtype))

    def _require_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(f"{what} not implemented for an operator that is expected to not be square.")

    def determinant(self, name="det"):
        """Return the determinant."""
        self._require_square("Determinant")
        return self._determinant()

    def _determinant(self):
        return ops.exp(self._log_abs_determinant()) if self._is_definite() else matrices.det(self.to_dense())

    def log_abs_determinant(self, name="log_abs_det"):
        """Return the logarithm of the determinant's absolute value."""
        self._require_square("Determinant")
        return self._log_abs_determinant()

    def _log_abs_determinant(self):
        if self._is_definite():
            return 2 * ops.sum(ops.log(algebra.diag_part(matrices.cholesky(self.to_dense()))), -1)
        return matrices.slogdet(self.to_dense()).log_abs_determinant

    def diag_part(self, name="diag_part"):
        """Return the diagonal."""
        return self._diag_part()

    def _diag_part(self):
        return algebra.diag_part(take(self.to_dense()))

    def trace(self, name="trace"):
        """Return the sum of the diagonal."""
        return self._trace()

    def _trace(self):
        return ops.sum(take(self.diag_part()), -1)

    def add_to_tensor(self, x, name="add_to_tensor"):
        """Return the sum with matrices."""
        x = convert_to_tensor(x)
        if x.dtype != self.dtype:
            raise TypeError(f"{self.name}.add_to_tensor: expected argument to have dtype {self.dtype}. Found: "
                            f"{x.dtype} in tensor {x}")
        return self._add_to_tensor(x)

    def _add_to_tensor(self, x):
        return take(self.to_dense()) + x

    def eigvals(self, name="eigvals"):
        """Return the eigenvalues of an operator that is known to be its own adjoint."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def _eigvals(self):
        return matrices.eigvalsh(self.to_dense())

    def cond(self, name="cond"):
        """Return how many times as great the greatest singular value is as the least."""
        return self._cond()

    def _cond(self):
        if self.is_self_adjoint:
            return algebra.ends(ops.abs(take(self._eigvals())))
        return algebra.ends(ops.linalg_svdvals(take(self.to_dense())))

    # --- parts of the batch

    def __getitem__(self, slices):
        """Return the operator of a part of the batch."""
        axes = len(self.batch_shape)
        parts = {name: part(self._given[name], rank, slices, axes) for name, rank in self._RANKS.items()}
        return type(self)(**{**self._given, **parts})
