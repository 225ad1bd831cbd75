"""The functions of `torch.sparse`, and those of `torch` that convert indices."""
import functools

from dragon.core.parts import set_handler
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.conversion import OLD_TYPES
from dragon.vm.torch.core.kinds import handle
from dragon.vm.torch.core.overrides import beneath, flat, handle as handle_function, has_torch_function, is_disabled
from dragon.vm.torch.core.register import FUNCTIONS, alias, function, method
from dragon.vm.torch.core.sparse import (arithmetic, copies, creation, files, making, pointwise, printing,  # noqa: F401
                                         products, properties, reductions, shapes)
from dragon.vm.torch.core.sparse.compressed import as_coordinates, line_indices
from dragon.vm.torch.core.sparse.conversions import to_layout
from dragon.vm.torch.core.sparse.coordinates import rows_of
from dragon.vm.torch.core.sparse.keys import count_up, starts_of
from dragon.vm.torch.core.sparse.parts import (COMPRESSED, SparseTensor, is_coordinates, is_sparse, layout_of,
                                               make_coordinates, name_of, parts_of, rule, values_of, with_values)
from dragon.vm.torch.core.tensor import Tensor, ops

set_handler(Tensor, SparseTensor, handle)
for _layout in ("sparse_coo", *COMPRESSED):
    layouts.EMPTY[getattr(layouts, _layout)] = making.empty_of


def require_sparse(who, *tensors):
    """Raise unless one of some tensors is sparse."""
    if not any(is_sparse(x) for x in tensors):
        came = " and ".join(repr(layout_of(x)) if isinstance(x, Tensor) else type(x).__name__ for x in tensors)
        raise RuntimeError(f"{who}: got {came}, expected a sparse tensor")


def mm(mat1, mat2, reduce=None, *, out=None):
    """Return the product of two matrices, one of them sparse.

    Parameters
    ----------
    mat1 : Tensor
        A matrix.
    mat2 : Tensor
        A matrix.
    reduce : str, optional
        "sum", "mean", "amax", "amin" or "prod": what becomes of the products of each row of `mat1`, which is of layout
        `torch.sparse_csr` then.

    Returns
    -------
    Tensor
        Sparse of two sparse matrices, else strided.

    """
    require_sparse("sparse.mm", mat1, mat2)
    if reduce is None or reduce == "sum":
        return products.given(products.product("sparse.mm", mat1, mat2), out)
    reduce = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    if reduce not in ("mean", "amax", "amin", "prod"):
        raise RuntimeError(f"sparse.mm: got reduce {reduce!r}, expected sum, prod, mean, amax or amin")
    if name_of(mat1) != "sparse_csr" or is_sparse(mat2):
        raise NotImplementedError(f"sparse.mm: got layouts {layout_of(mat1)!r} and {layout_of(mat2)!r} with "
                                  f"reduce={reduce!r}, expected torch.sparse_csr and torch.strided")
    products.require_matrices("sparse.mm", mat1, mat2)
    starts, columns, values = parts_of(mat1)
    if reduce == "mean":
        counts = ops.clamp(ops.sub(starts[1:], starts[:-1]), 1).to(values.dtype)
        total, counts = products.times_dense(mat1, mat2), ops.unsqueeze(counts, 1)
        exact = values.dtype.is_floating_point or values.dtype.is_complex
        mean = ops.div(total, counts) if exact else FUNCTIONS["div"](total, counts, rounding_mode="trunc")
        return products.given(mean, out)
    if reduce != "prod" and not values.dtype.is_complex:
        return products.given(ops.rows_extreme(starts, columns, values, mat2, least=reduce == "amin")[0], out)
    rows = line_indices(starts, columns.shape[0])
    terms = ops.mul(ops.unsqueeze(values, 1), ops.index_select(mat2, 0, columns))
    base = ops.zeros((mat1.shape[0], mat2.shape[1]), dtype=terms.dtype, device=terms.device)
    where = ops.expand(ops.unsqueeze(rows, 1), terms.shape)
    return products.given(ops.scatter_reduce(base, 0, where, terms, reduce, include_self=False), out)


def addmm(mat, mat1, mat2, *, beta=1, alpha=1, out=None):
    """Return beta * mat + alpha * (mat1 @ mat2), where `mat1` is sparse."""
    require_sparse("sparse.addmm", mat1, mat2)
    return products.addmm(mat, mat1, mat2, beta=beta, alpha=alpha, out=out)


def sampled_addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """Return alpha * (mat1 @ mat2) at the places of a sparse tensor, plus beta times its values.

    Parameters
    ----------
    input : Tensor
        Of layout `torch.sparse_csr`, alone or in batches.
    mat1, mat2 : Tensor
        Strided matrices, or batches of them.

    Returns
    -------
    Tensor
        With the indices of `input`.

    """
    if name_of(input) not in ("sparse_csr", "sparse_csc"):
        raise NotImplementedError(f"sampled_addmm: got a tensor of layout {layout_of(input)!r}, expected "
                                  "torch.sparse_csr")
    if is_sparse(mat1) or is_sparse(mat2) or mat1.ndim != input.ndim or mat2.ndim != input.ndim:
        raise RuntimeError(f"sampled_addmm: got matrices with {mat1.ndim} and {mat2.ndim} dims, expected strided ones "
                           f"with {input.ndim}")
    if (*mat1.shape[:-1], mat2.shape[-1]) != tuple(input.shape) or mat1.shape[-1] != mat2.shape[-2]:
        raise RuntimeError(f"sampled_addmm: got shapes {tuple(mat1.shape)} and {tuple(mat2.shape)}, expected a product "
                           f"of shape {tuple(input.shape)}")
    *batches, rows, columns = rows_of(parts_of(as_coordinates(with_values(input, values_of(input).detach())))[0])
    left = mat1[(*batches, rows)] if batches else ops.index_select(mat1, 0, rows)
    other = ops.transpose(mat2, -1, -2)
    right = other[(*batches, columns)] if batches else ops.index_select(other, 0, columns)
    made = ops.reshape(ops.sum(ops.mul(left, right), -1), values_of(input).shape)
    made = made if alpha == 1 else ops.mul(made, alpha)
    if beta != 0:
        made = ops.add(made, values_of(input) if beta == 1 else ops.mul(values_of(input), beta))
    return products.given(with_values(input, made), out)


def sum(input, dim=None, dtype=None):
    """Return the sum of all elements of a sparse tensor, or along axes, sparse unless no sparse axis is left.

    Parameters
    ----------
    input : Tensor
        Of layout `torch.sparse_coo`.
    dim : Union[int, Sequence[int]], optional
        The axes.
    dtype : dtype, optional
        That of the result.

    Returns
    -------
    Tensor
        The sum.

    """
    require_sparse("sparse.sum", input)
    if not is_coordinates(input):
        raise RuntimeError(f"sparse.sum: got a tensor of layout {layout_of(input)!r}, expected torch.sparse_coo")
    if dim is None or hasattr(dim, "__len__") and len(dim) == 0:
        return reductions.sum(input.coalesce(), dtype=dtype)
    if len(reductions.axes_of("sparse.sum", input, dim)) == input.ndim:
        return reductions.sum(input, dtype=dtype)
    return reductions.sum_along("sparse.sum", input, dim, False, dtype)


def softmax(input, dim, *, dtype=None):
    """Return the softmax along an axis over the values that are held: the others count as minus infinity."""
    return reductions.softmax_along("sparse.softmax", input, dim, dtype, False)


def log_softmax(input, dim, *, dtype=None):
    """Return the logarithm of the softmax along an axis over the values that are held."""
    return reductions.softmax_along("sparse.log_softmax", input, dim, dtype, True)


def spdiags(diagonals, offsets, shape, layout=None):
    """Return a sparse matrix with rows of a matrix along its diagonals.

    Parameters
    ----------
    diagonals : Tensor
        One row for each diagonal; element j stands in column j.
    offsets : Tensor
        Which diagonals: above the main one from 1, below it from -1.
    shape : Sequence[int]
        Height and width.
    layout : layout, optional
        `torch.sparse_coo`, the default, `torch.sparse_csr` or `torch.sparse_csc`.

    Returns
    -------
    Tensor
        The matrix.

    """
    wanted = "sparse_coo" if layout is None else repr(layout).removeprefix("torch.")
    if wanted not in ("sparse_coo", "sparse_csr", "sparse_csc"):
        raise RuntimeError(f"spdiags: got layout={layout!r}, expected torch.sparse_coo, torch.sparse_csr or "
                           "torch.sparse_csc")
    diagonals = ops.unsqueeze(diagonals, 0) if diagonals.ndim == 1 else diagonals
    offsets = ops.reshape(offsets, (-1,)).long()
    if diagonals.ndim != 2 or diagonals.shape[0] != offsets.shape[0] or len(shape) != 2:
        raise RuntimeError(f"spdiags: got diagonals of shape {tuple(diagonals.shape)}, {offsets.shape[0]} offsets and "
                           f"shape {tuple(shape)}, expected a row for each offset, and two sizes")
    if ops.unique(offsets)[0].shape[0] != offsets.shape[0]:
        raise RuntimeError("spdiags: Offset tensor contains duplicate values; expected each offset once")
    height, width = (int(size) for size in shape)
    columns = ops.expand(ops.unsqueeze(count_up(diagonals.shape[1], diagonals), 0), diagonals.shape)
    rows = ops.sub(columns, ops.unsqueeze(offsets, 1))
    inside = ops.logical_and(ops.logical_and(ops.ge(rows, 0), ops.lt(rows, height)), ops.lt(columns, width))
    kept = ops.nonzero(ops.reshape(inside, (-1,)))[:, 0]
    rows, columns, values = (ops.index_select(ops.reshape(part, (-1,)), 0, kept) for part in (rows, columns, diagonals))
    return to_layout(make_coordinates(ops.stack((rows, columns), 0), values, (height, width)), wanted)


def spsolve(input, other, *, left=True):
    """Refuse: solving takes a library that is only there for CUDA."""
    raise RuntimeError("spsolve: got a sparse system, expected a strided one: torch.linalg.solve(input.to_dense(), "
                       "other) solves it")


def as_sparse_gradcheck(gradcheck):
    """Return `gradcheck` for functions of sparse tensors: of their values, with the same indices.

    Parameters
    ----------
    gradcheck : Callable
        `torch.autograd.gradcheck`.

    Returns
    -------
    Callable
        With the same arguments.

    """
    def check(func, inputs, **options):
        inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
        options.pop("masked", None)
        flat = [values_of(item).detach().requires_grad_(item.requires_grad) if is_sparse(item) else item
                for item in inputs]

        def of_values(*args):
            made = func(*(with_values(item, ops.view(arg, arg.shape)) if is_sparse(item) else arg
                          for item, arg in zip(inputs, args)))
            made = made if isinstance(made, (list, tuple)) else (made,)
            return tuple(values_of(item) if is_sparse(item) else item for item in made)
        return gradcheck(of_values, tuple(flat), **options)
    return check


class _OldType(type):
    """Tensors of coordinates of the right dtype are instances of `torch.sparse.FloatTensor` and its like."""

    def __instancecheck__(cls, instance):
        return is_sparse(instance) and is_coordinates(instance) and instance.dtype == cls.dtype

    def __call__(cls, *args, device=None):
        return creation.construct(cls.dtype, args)

    def __repr__(cls):
        return f"<class 'torch.sparse.{cls.__name__}'>"


CLASSES = {old: _OldType(old, (), {"dtype": OBJECTS[name], "__module__": "torch.sparse",
                                   "__doc__": f"Old name of sparse tensors of torch.{name}."})
           for name, old in OLD_TYPES.items() if name not in ("bool", "complex64", "complex128")}


def asking(compute):
    """Return a function that asks the classes of arguments that are not sparse, and modes."""
    @functools.wraps(compute)
    def asked(*args, **kwargs):
        others = tuple(value for value in flat(args, kwargs) if not isinstance(value, SparseTensor))
        if not is_disabled() and has_torch_function(others):
            return handle_function(asked, args, kwargs)
        for who in beneath:
            if who.is_wanted(others, {}):
                return who.call(asked, args, kwargs)
        return compute(*args, **kwargs)
    return asked


mm, addmm, sampled_addmm, sum, softmax, log_softmax = map(asking, (mm, addmm, sampled_addmm, sum, softmax, log_softmax))


@function
def _convert_indices_from_coo_to_csr(input, size, *, out_int32=False, out=None):
    """Return where each of so many rows begins among sorted rows."""
    made = starts_of(input, int(size))
    made = made.to(OBJECTS["int32"]) if out_int32 else made
    return made if out is None else out.copy_(made)


@function
def _convert_indices_from_csr_to_coo(crow_indices, col_indices, *, out_int32=False, transpose=False, out=None):
    """Return the coordinates of a compressed matrix as two rows, exchanged if asked."""
    rows = line_indices(crow_indices, col_indices.shape[-1])
    pair = (rows, ops.reshape(col_indices, (-1,)).long())
    made = ops.stack(pair[::-1] if transpose else pair, 0)
    made = made.to(OBJECTS["int32"]) if out_int32 else made
    return made if out is None else out.copy_(made)


@function
def _sparse_sum(input, dim=None, *, dtype=None):
    """Return the sum of a sparse tensor."""
    return sum(input, dim, dtype)


@function
def _sparse_sparse_matmul(input, other):
    """Return the product of two sparse matrices."""
    return mm(input, other)


for _function in (_sparse_sum, _sparse_sparse_matmul):
    rule(_function.__name__)(_function.__wrapped__)


def _shaped(name):
    """Register a function or method whose strided form refuses."""
    compute = getattr(products, name)

    def refuse(input, *args, **kwargs):
        require_sparse(name, input, *args)
        return compute(input, *args, **kwargs)
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = compute.__doc__
    method(refuse) if name == "sspaddmm" else None
    function(refuse)


for _name in ("smm", "sspaddmm", "hspmm"):
    _shaped(_name)


def _product(name):
    """Register an old name of the product of two matrices, of any layouts."""
    def multiply(input, mat2):
        return ops.matmul(input, mat2)
    multiply.__name__ = multiply.__qualname__ = name
    multiply.__doc__ = "Return the product of two matrices, which may be sparse."
    rule(name)(products.mm)
    function(multiply)


for _name in ("spmm", "dsmm"):
    _product(_name)


alias("hspmm", "hsmm")


@method
def smm(self, mat):
    """Return the product of a sparse matrix and a strided one, as a sparse matrix."""
    require_sparse("smm", self, mat)
    return products.smm(self, mat)


for _name in ("sparse_resize_", "sparse_resize_and_clear_"):
    def _resize(self, size, sparse_dim, dense_dim, name=_name):
        require_sparse(name, self)
        return getattr(shapes, name)(self, size, sparse_dim, dense_dim)
    _resize.__name__ = _resize.__qualname__ = _name
    _resize.__doc__ = getattr(shapes, _name).__doc__
    method(_resize)
copies.register()
