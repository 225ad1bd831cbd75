"""Products of sparse matrices with strided ones, and with each other."""
from dragon.core.modes import is_grad_enabled
from dragon.vm.torch.core.sparse.compressed import as_coordinates, line_indices, transposed
from dragon.vm.torch.core.sparse.conversions import to_layout
from dragon.vm.torch.core.sparse.coordinates import coalesce, rows_of
from dragon.vm.torch.core.sparse.keys import runs, starts_of
from dragon.vm.torch.core.sparse.parts import (ENGINE_RULES, dense_dim, is_coalesced, is_coordinates,
                                               is_sparse, layout_of, make, make_coordinates, name_of, parts_of, rule,
                                               values_of)
from dragon.vm.torch.core.tensor import ops

ROOM = 1 << 20  # rows and columns for which there is always room in a product


def require_matrices(who, a, b):
    """Raise unless two tensors are matrices that can be multiplied."""
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError(f"{who}: got {a.ndim} and {b.ndim} dims, expected two matrices")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"{who}: got matrices of {a.shape[0]} by {a.shape[1]} and {b.shape[0]} by {b.shape[1]}, "
                           "expected as many columns as rows")
    if a.dtype != b.dtype:
        raise RuntimeError(f"{who}: got {a.dtype} and {b.dtype}, expected one dtype")
    for x in (a, b):
        if is_sparse(x) and dense_dim(x):
            raise RuntimeError(f"{who}: got a sparse tensor with {dense_dim(x)} dense dims, expected none")


def lines_of(x):
    """Return (starts, rows, columns, values) of a sparse matrix; starts are None where the rows are in no order."""
    if name_of(x) == "sparse_csr":
        starts, columns, values = parts_of(x)
        return starts, None, columns, values
    x = as_coordinates(x)
    (rows, columns), values = rows_of(parts_of(x)[0]), values_of(x)
    return (starts_of(rows, int(x.shape[0])) if is_coalesced(x) else None), rows, columns, values


def times_dense(a, b):
    """Return a sparse matrix times a strided one."""
    starts, columns, values = in_rows(a)
    if b.dtype.name == "bool":  # whether any product is true
        return ops.ne(ops.rows_matmul(starts, columns, values.int(), b.int()), 0)
    return ops.rows_matmul(starts, columns, values, b)


def swap(x):
    """Return the transpose of a matrix of any layout."""
    if not is_sparse(x):
        return ops.transpose(x, 0, 1)
    if not is_coordinates(x):
        return transposed(x)
    indices, values = parts_of(x)
    return make_coordinates(ops.flip(indices, (0,)), values, (x.shape[1], x.shape[0]))


def product(who, a, b):
    """Return the product of two matrices of which one at least is sparse."""
    require_matrices(who, a, b)
    if not is_sparse(b):
        return times_dense(a, b)
    if not is_sparse(a):
        return ops.transpose(times_dense(swap(b), swap(a)), 0, 1)
    return times_sparse(a, b)


def in_rows(x):
    """Return (starts, columns, values) of a sparse matrix, in the order of its rows."""
    starts, rows, columns, values = lines_of(x)
    if starts is None:
        rows, order = ops.sort(rows, 0, False)
        columns, values = ops.index_select(columns, 0, order), ops.index_select(values, 0, order)
        starts = starts_of(rows, int(x.shape[0]))
    return starts, columns, values


def times_sparse(a, b):
    """Return the product of two sparse matrices: coordinates of coordinates, rows of compressed ones.

    Where gradients are wanted, or there are far more rows or columns than numbers, all terms are written down and then
    added up.

    """
    held = values_of(a), values_of(b)
    wanted = is_grad_enabled() and (held[0].requires_grad or held[1].requires_grad)
    room = ROOM + 16 * (held[0].numel() + held[1].numel())
    if wanted or held[0].dtype.name == "bool" or max(int(a.shape[0]), int(b.shape[1])) > room:
        return times_by_terms(a, b)
    starts, places, values = ops.rows_product(*in_rows(a), *in_rows(b), int(b.shape[1]))
    if not (is_coordinates(a) or is_coordinates(b)):
        return make("sparse_csr", (starts, places, values), (a.shape[0], b.shape[1]))
    indices = ops.stack((line_indices(starts, places.shape[0]), places), 0)
    return make_coordinates(indices, values, (a.shape[0], b.shape[1]), True)


def times_by_terms(a, b):
    """Return the product of two sparse matrices by way of all its terms."""
    left, right = as_coordinates(a), coalesce(as_coordinates(b))
    (rows, middle), values = rows_of(parts_of(left)[0]), values_of(left)
    (other_rows, columns), other = rows_of(parts_of(right)[0]), values_of(right)
    starts = starts_of(other_rows, int(b.shape[0]))
    begins = ops.index_select(starts, 0, middle)
    lengths = ops.sub(ops.index_select(starts, 0, ops.add(middle, 1)), begins)
    owner, place = runs(lengths)
    partner = ops.add(ops.index_select(begins, 0, owner), place)
    indices = ops.stack((ops.index_select(rows, 0, owner), ops.index_select(columns, 0, partner)), 0)
    terms = ops.mul(ops.index_select(values, 0, owner), ops.index_select(other, 0, partner))
    made = coalesce(make_coordinates(indices, terms, (a.shape[0], b.shape[1])))
    return made if is_coordinates(a) or is_coordinates(b) else to_layout(made, "sparse_csr")


def given(made, out):
    """Return a result, or what it was to be written into."""
    return made if out is None else out.copy_(made)


@rule("mm")
def mm(input, mat2, *, out=None):
    """Return the product of two matrices."""
    return given(product("mm", input, mat2), out)


@rule("smm")
def smm(input, mat):
    """Return the product of a sparse matrix and a strided one, as a sparse matrix of its rows."""
    held = to_layout(product("smm", input, mat), "sparse_coo")
    return make_coordinates(*parts_of(held), held.shape)


@rule("hspmm", "hsmm")
def hspmm(mat1, mat2, *, out=None):
    """Return the product of a sparse matrix and a strided one, with its rows as dense values."""
    if not is_coordinates(mat1):
        raise RuntimeError(f"hspmm: got a tensor of layout {layout_of(mat1)!r}, expected torch.sparse_coo")
    made = product("hspmm", mat1, mat2)
    held = ops.unique(parts_of(mat1)[0][0])[0]
    return given(make_coordinates(ops.unsqueeze(held, 0), ops.index_select(made, 0, held), made.shape), out)


@rule("mv")
def mv(input, vec, *, out=None):
    """Return the product of a matrix and a vector."""
    if vec.ndim != 1 or input.ndim != 2:
        raise RuntimeError(f"mv: got {input.ndim} and {vec.ndim} dims, expected a matrix and a vector")
    if is_sparse(vec):
        vec = vec.to_dense()
    return given(ops.reshape(matmul(input, ops.unsqueeze(vec, 1)), (-1,)), out)


@rule("matmul", "__matmul__", "linalg_matmul")
def matmul(input, other, *, out=None):
    """Return the product of matrices and vectors."""
    if input.ndim == 2 and other.ndim == 2:
        made = product("matmul", input, other)
    elif input.ndim == 2 and other.ndim == 1:
        made = mv(input, other)
    elif input.ndim == 1 and other.ndim == 2:
        made = mv(swap(other), input)
    elif input.ndim == 1 and other.ndim == 1:
        made = dot(input, other)
    elif input.ndim == other.ndim == 3:
        made = bmm(input, other)
    else:
        raise NotImplementedError(f"matmul: got {input.ndim} and {other.ndim} dims with a sparse tensor, expected "
                                  "matrices, vectors, or batches of matrices in both: sparse tensors are not broadcast")
    return given(made, out)


@rule("__rmatmul__")
def rmatmul(self, other):
    """Return the product the other way round."""
    return matmul(other, self)


@rule("dot", "vdot", "inner")
def dot(input, tensor, *, out=None):
    """Return the sum of products of two vectors."""
    if input.ndim != 1 or input.shape != tensor.shape:
        raise RuntimeError(f"dot: got shapes {tuple(input.shape)} and {tuple(tensor.shape)}, expected vectors of one "
                           "length")
    return given(ops.sum(values_of(coalesce(ops_mul(input, tensor)))), out)


def ops_mul(a, b):
    """Return the elementwise product."""
    from dragon.vm.torch.core.sparse.arithmetic import mul
    return mul(a, b)


@rule("bmm")
def bmm(input, mat2, *, deterministic=False, out=None):
    """Return the products of a batch of matrices: the batches stand as blocks along the diagonal of one matrix."""
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(f"bmm: got shapes {tuple(input.shape)} and {tuple(mat2.shape)}, expected batches of "
                           "matrices that can be multiplied")
    if is_sparse(mat2) and is_sparse(input):
        raise NotImplementedError("bmm: got two sparse tensors, expected a strided one among them")
    if is_sparse(mat2):
        flipped = bmm(mat2.transpose(1, 2), ops.transpose(input, 1, 2))
        return given(ops.transpose(flipped, 1, 2), out)
    x = as_coordinates(input)
    many, height, width = (int(size) for size in input.shape)
    batch, row, column = rows_of(parts_of(x)[0])
    indices = ops.stack((ops.add(ops.mul(batch, height), row), ops.add(ops.mul(batch, width), column)), 0)
    diagonal = make_coordinates(indices, values_of(x), (many * height, many * width), is_coalesced(x))
    made = product("bmm", diagonal, ops.reshape(mat2, (many * width, mat2.shape[2])))
    return given(ops.reshape(made, (many, height, mat2.shape[2])), out)


def _add_scaled(base, made, beta, alpha):
    """Return beta * base + alpha * made, in which a beta of 0 takes the base for nothing."""
    from dragon.vm.torch.core.sparse.arithmetic import add
    made = made if alpha == 1 else made * alpha
    if beta == 0:
        return made
    base = base if beta == 1 else base * beta
    if is_sparse(base) or is_sparse(made):
        return add(base, made)
    return ops.add(base, made)


@rule("addmm", "sparse_addmm", "saddmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """Return beta * input + alpha * (mat1 @ mat2)."""
    return given(_add_scaled(input, product("addmm", mat1, mat2), beta, alpha), out)


@rule("addmm_")
def addmm_(self, mat1, mat2, *, beta=1, alpha=1):
    """Write beta * self + alpha * (mat1 @ mat2) into self."""
    return self.copy_(addmm(self, mat1, mat2, beta=beta, alpha=alpha))


@rule("addmv")
def addmv(input, mat, vec, *, beta=1, alpha=1, out=None):
    """Return beta * input + alpha * (mat @ vec)."""
    return given(_add_scaled(input, mv(mat, vec), beta, alpha), out)


@rule("sspaddmm")
def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    """Return beta * input + alpha * (mat1 @ mat2) as a sparse matrix."""
    made = smm(mat1, mat2)
    total = _add_scaled(input, made, beta, alpha)
    return given(total, out)


@rule("linear")
def linear(input, weight, bias=None):
    """Return input @ weight.T + bias."""
    made = product("linear", input, swap(weight)) if input.ndim == 2 else mv(weight, input)
    return made if bias is None else made + bias


ENGINE_RULES.update(matmul=lambda x, y, **_: matmul(x, y))
