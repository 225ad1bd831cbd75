"""What the classes of linear operators compute with: values kept as they are, adjoints, batches that broadcast."""
from dragon.vm.shared.arrays.array import broadcast_static_shape
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import Base, Tensor, ops
from dragon.vm.tensorflow.core.flow.asserts import assert_equal
from dragon.vm.tensorflow.core.numbers import matrices, solving


def keep(value, dtype=None):
    """Return a variable as it is, so that its later values count, and anything else as a tensor."""
    return value if isinstance(value, Base) and not isinstance(value, Tensor) else convert_to_tensor(value, dtype)


def conj(x):
    """Return conjugated numbers; real ones are themselves."""
    return ops.conj_physical(x) if x.dtype.is_complex else x


def adjoint(x):
    """Return matrices with rows and columns exchanged, conjugated."""
    return conj(ops.matrix_transpose(x))


def joint_batch(*shapes):
    """Return the batch that shapes of batches broadcast to.

    Parameters
    ----------
    *shapes : TensorShape
        Shapes without the axes of matrices.

    Returns
    -------
    TensorShape
        The batch.

    """
    found = TensorShape([])
    for shape in shapes:
        found = broadcast_static_shape(found, TensorShape(shape))
    return TensorShape(found)


def broadcast(*matrices_of_batches):
    """Return matrices with one batch.

    Parameters
    ----------
    *matrices_of_batches : Tensor
        Matrices, or batches of them.

    Returns
    -------
    List[Tensor]
        The same with the batch that all broadcast to.

    """
    batch = tuple(joint_batch(*(x.shape[:-2] for x in matrices_of_batches)))
    return [x if tuple(x.shape[:-2]) == batch else ops.broadcast_to(x, (*batch, *x.shape[-2:]))
            for x in matrices_of_batches]


def multiply(a, b, adjoint_a=False, adjoint_b=False):
    """Return products of matrices."""
    return matrices.matmul(a, b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)


def solve(a, b, adjoint_a=False):
    """Return x with a @ x = b, of batches that broadcast."""
    return solving.solve(*broadcast(a, b), adjoint=adjoint_a)


def solve_triangle(a, b, adjoint_a=False):
    """Return x with a @ x = b, of lower triangles."""
    return solving.triangular_solve(a, b, lower=True, adjoint=adjoint_a)


def solve_definite(a, b):
    """Return x with a @ x = b, of positive definite matrices."""
    return solving.cholesky_solve(matrices.cholesky(a), b)


def diag(x):
    """Return matrices with a diagonal."""
    return ops.diag_embed(x)


def diag_part(x):
    """Return diagonals of matrices."""
    return ops.clone(ops.diagonal(x, 0, -2, -1))


def add_diag(x, diagonal):
    """Return matrices with numbers added to their diagonals; the sizes of x stay."""
    return matrices.set_diag(x, diag_part(x) + diagonal)


def ends(x):
    """Return how many times as great the greatest of numbers is as the least."""
    return ops.amax(x, -1) / ops.amin(x, -1)


def require(condition, message):
    """Raise an InvalidArgumentError if a condition holds not everywhere."""
    assert_equal(condition, True, message=message)


def require_nonzero(x, message):
    """Raise an InvalidArgumentError if a number is zero."""
    require(ops.gt(ops.abs(x), 0), message)


def require_real(x, message):
    """Raise an InvalidArgumentError if a number has an imaginary part."""
    if x.dtype.is_complex:
        require(ops.eq(ops.imag(x), 0), message)


def require_positive(x, message):
    """Raise an InvalidArgumentError if the real part of a number is not positive."""
    require(ops.gt(ops.real(x) if x.dtype.is_complex else x, 0), message)


def fail(message):
    """Raise an InvalidArgumentError."""
    raise invalid_argument(message)


def sizes_of(value, who, what):
    """Return whole numbers that say a shape.

    Parameters
    ----------
    value : Union[int, Sequence[int], Tensor]
        What came.
    who, what : str
        Who speaks, and the argument's name.

    Returns
    -------
    Union[int, Tuple[int, ...]]
        One number, or several.

    """
    if isinstance(value, Base) and not isinstance(value, Tensor):
        raise TypeError(f"{who}: got {what} as a variable, expected numbers that do not change")
    if isinstance(value, TensorShape):
        return tuple(value)
    x = take(value)
    if 0 in x.shape and not isinstance(value, Tensor):
        return ()
    if not x.dtype.is_integer:
        raise TypeError(f"{who}: got {what}={value!r}, expected whole numbers")
    found = x.numpy().tolist()
    if x.ndim > 1:
        raise ValueError(f"{who}: got {what}={value!r}, expected one number or a list of them")
    if any(number < 0 for number in (found if x.ndim else [found])):
        raise ValueError(f"{who}: got {what}={value!r}, expected no negative numbers")
    return tuple(found) if x.ndim else found
