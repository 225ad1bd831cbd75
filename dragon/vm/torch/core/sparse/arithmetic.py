"""Sums, products and quotients of sparse tensors, of sparse and strided ones, and with numbers."""
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse.compressed import as_coordinates
from dragon.vm.torch.core.sparse.conversions import assign, clone, to, to_layout
from dragon.vm.torch.core.sparse.coordinates import coalesce, look_up, rows_of, take, to_dense
from dragon.vm.torch.core.sparse.keys import find, joint_keys
from dragon.vm.torch.core.sparse.parts import (BLOCKS, ENGINE_RULES, block_of, is_coalesced, is_coordinates,
                                               is_sparse, layout_of, make_coordinates, name_of, parts_of, rule,
                                               sparse_dim, values_of, with_values)
from dragon.vm.torch.core.tensor import Tensor, ops


def is_number(x):
    """Return whether an operand is one number: Python's or a strided tensor without dims."""
    return not isinstance(x, Tensor) or not is_sparse(x) and x.ndim == 0


def require_same_shape(who, a, b):
    """Raise unless two tensors have one shape."""
    if tuple(a.shape) != tuple(b.shape):
        raise RuntimeError(f"{who}: got shapes {tuple(a.shape)} and {tuple(b.shape)}, expected the same size: sparse "
                           "tensors are not broadcast here")


def common(a, b):
    """Return two tensors in the dtype in which they meet."""
    dtype = a.dtype if a.dtype == b.dtype else FUNCTIONS["promote_types"](a.dtype, b.dtype)
    return to(a, dtype), to(b, dtype)


def scaled(x, alpha):
    """Return a sparse tensor times a number."""
    return x if isinstance(alpha, (int, float)) and alpha == 1 else with_values(
        x, ops.mul(values_of(x), alpha).to(x.dtype))


@rule("add", "__add__", "__radd__")
def add(input, other, *, alpha=1, out=None):
    """Return the sum: strided if the first operand is, sparse of two sparse ones."""
    if not is_sparse(input) and isinstance(input, Tensor) and input.ndim:
        made = add_to_dense("add", input, other, alpha)
    elif is_number(input) or is_number(other) or not is_sparse(other) and is_coordinates(input):
        raise RuntimeError("add: got add(sparse, dense), which is not supported; expected add(dense, sparse), or two "
                           "sparse tensors of one shape")
    elif not is_sparse(other):
        made = add_to_dense("add", scaled_dense(other, alpha), input, 1)
    else:
        made = add_sparse(input, other, alpha)
    return made if out is None else out.copy_(made)


def scaled_dense(x, alpha):
    """Return a strided tensor times a number."""
    return x if alpha == 1 else ops.mul(x, alpha)


def add_to_dense(who, dense, other, alpha):
    """Return a strided tensor with a sparse one added at its places."""
    require_same_shape(who, dense, other)
    return ops.add(dense, to_dense(as_coordinates(other)), alpha=alpha)


def same_places(a, b):
    """Return whether two sparse tensors hold values at the same places in the same order."""
    pairs = list(zip(parts_of(a)[:-1], parts_of(b)[:-1]))
    return name_of(a) == name_of(b) and all(
        one is two or one.shape == two.shape and bool(ops.all(ops.eq(one, two))) for one, two in pairs)


def add_sparse(a, b, alpha):
    """Return the sum of two sparse tensors of one layout."""
    require_same_shape("add", a, b)
    if name_of(a) != name_of(b) or block_of(a) != block_of(b):
        raise RuntimeError(f"add: got layouts {layout_of(a)!r} and {layout_of(b)!r}, expected the same, and blocks of "
                           "one size")
    a, b = common(a, scaled(b, alpha))
    if same_places(a, b):
        return with_values(a, ops.add(values_of(a), values_of(b)))
    if not is_coordinates(a):
        total = coalesce(joined(as_coordinates(a), as_coordinates(b)))
        return to_layout(total, name_of(a), block_of(a) if name_of(a) in BLOCKS else None)
    if sparse_dim(a) != sparse_dim(b):
        raise RuntimeError(f"add: got {sparse_dim(a)} and {sparse_dim(b)} sparse dims, expected as many")
    if values_of(b).shape[0] == 0:
        return clone(a)
    total = joined(a, b)
    return coalesce(total) if is_coalesced(a) and is_coalesced(b) else total


def joined(a, b):
    """Return a tensor of coordinates with the values of two, one after the other."""
    pairs = zip(parts_of(a), parts_of(b))
    (first, second), (mine, other) = pairs
    return make_coordinates(ops.cat((first, second), 1), ops.cat((mine, other), 0), a.shape)


@rule("sub", "subtract", "__sub__")
def sub(input, other, *, alpha=1, out=None):
    """Return the difference; see `add`."""
    if is_number(other) or not is_sparse(other):
        return add(input, other, out=out)
    return add(input, scaled(other, -alpha), out=out)


@rule("rsub", "__rsub__")
def rsub(input, other, *, alpha=1):
    """Return the difference the other way round."""
    return sub(other, input, alpha=alpha)


@rule("mul", "multiply", "__mul__", "__rmul__")
def mul(input, other, *, out=None):
    """Return the product: sparse, with the places that all sparse factors hold."""
    sparse, factor = (input, other) if is_sparse(input) else (other, input)
    if is_number(factor):
        made = with_values(sparse, ops.mul(values_of(sparse), factor))
    elif is_sparse(factor):
        made = mul_sparse(sparse, factor)
    else:
        made = mul_dense(sparse, factor)
    return made if out is None else out.copy_(made)


def mul_dense(sparse, dense):
    """Return a sparse tensor times a strided one, which is broadcast."""
    if not is_coordinates(sparse):
        require_same_shape("mul", dense, sparse)
        return with_values(sparse, ops.mul(values_of(sparse), values_of(dense.sparse_mask(sparse.detach()))))
    pairs = zip(dense.shape[::-1], sparse.shape[::-1])
    if dense.ndim > sparse.ndim or any(one not in (1, whole) for one, whole in pairs):
        raise RuntimeError(f"mul: got a strided tensor of shape {tuple(dense.shape)} and a sparse one of "
                           f"{tuple(sparse.shape)}, expected one that broadcasts to the sparse one's shape")
    indices, values = parts_of(sparse)
    dense = ops.reshape(dense, (*(1 for _ in range(sparse.ndim - dense.ndim)), *dense.shape))
    rank = indices.shape[0]
    # A size of 1 is met by index 0, without the dense tensor ever being as large as the sparse one.
    rows = [row if dense.shape[axis] > 1 else ops.zeros_like(row) for axis, row in enumerate(rows_of(indices))]
    picked = take(dense, ops.stack(rows, 0) if rank else indices)
    return with_values(sparse, ops.mul(values, picked))


def mul_sparse(a, b):
    """Return the product of two sparse tensors."""
    require_same_shape("mul", a, b)
    a, b = common(a, b)
    if (not is_coordinates(a) or is_coalesced(a)) and same_places(a, b):
        return with_values(a, ops.mul(values_of(a), values_of(b)))
    if not is_coordinates(a):
        product = mul_sparse(as_coordinates(a), as_coordinates(b))
        return to_layout(product, name_of(a), block_of(a) if name_of(a) in BLOCKS else None)
    b = as_coordinates(b)
    if sparse_dim(a) != sparse_dim(b):
        raise RuntimeError(f"mul: got {sparse_dim(a)} and {sparse_dim(b)} sparse dims, expected as many")
    if not is_coalesced(a):  # products distribute over the values of one place
        return with_values(a, ops.mul(values_of(a), look_up(b, parts_of(a)[0])))
    b = coalesce(b)
    mine, other = joint_keys(rows_of(parts_of(a)[0]), rows_of(parts_of(b)[0]), a.shape[:sparse_dim(a)])
    place, found = find(mine, other)
    kept = ops.nonzero(found)[:, 0]
    values = ops.mul(ops.index_select(values_of(a), 0, kept),
                     ops.index_select(values_of(b), 0, ops.index_select(place, 0, kept)))
    return make_coordinates(ops.index_select(parts_of(a)[0], 1, kept), values, a.shape, True)


def _divide(name, linear):
    """Register a division: by one number only, since 0 / 0 is none."""
    def divide(input, other, *, rounding_mode=None, out=None):
        if not is_sparse(input) or not is_number(other):
            shape = tuple(other.shape) if isinstance(other, Tensor) else ()
            raise RuntimeError(f"{name}: got a sparse tensor with a divisor of shape {shape}, expected a sparse tensor "
                               "and a number: sparse division requires a scalar or zero-dim dense tensor divisor")
        exact = linear and rounding_mode is None
        x = input if exact or not is_coordinates(input) else coalesce(input)
        options = {} if rounding_mode is None else {"rounding_mode": rounding_mode}
        made = with_values(x, getattr(values_of(x), name)(other, **options))
        return made if out is None else out.copy_(made)
    return named(divide, name, f"Return `{name}` of a sparse tensor and a number.")


div = rule("div", "divide", "true_divide", "__truediv__")(_divide("div", True))
floor_divide = rule("floor_divide", "__floordiv__")(_divide("floor_divide", False))


@rule("rdiv", "__rdiv__", "__rtruediv__", "__rfloordiv__")
def rdiv(self, other):
    """Refuse: what is divided by 0 is no sparse tensor."""
    return div(other, self)


def _in_place(name, compute):
    """Register the form of an operation that writes into its first operand."""
    def write(self, other, **options):
        made = compute(self, other, **options)
        if is_sparse(self):
            if made.dtype != self.dtype and not FUNCTIONS["can_cast"](made.dtype, self.dtype):
                raise RuntimeError(f"{name}: got a result of {made.dtype}, which can't be cast to {self.dtype}")
            return assign(self, to(made, self.dtype))
        if is_sparse(made):
            raise RuntimeError(f"{name}: got a strided tensor to write a sparse result to, expected a sparse one")
        return self.copy_(made)
    rule(name)(write)


for _names, _compute in ((("add_", "__iadd__"), add), (("sub_", "subtract_", "__isub__"), sub),
                         (("mul_", "multiply_", "__imul__"), mul),
                         (("div_", "divide_", "true_divide_", "__itruediv__"), div),
                         (("floor_divide_", "__ifloordiv__"), floor_divide)):
    for _name in _names:
        _in_place(_name, _compute)


@rule("zero_")
def zero_(self):
    """Become all zero: no values are held."""
    from dragon.vm.torch.core.sparse.making import empty_of
    if values_of(self).requires_grad:
        raise RuntimeError("zero_: got a sparse tensor that requires grad, expected one without, or no_grad()")
    if is_coordinates(self):
        from dragon.vm.torch.core.sparse.making import empty_coordinates
        return assign(self, empty_coordinates(self.shape, self.dtype, self.device, sparse_dim(self)))
    if name_of(self) in BLOCKS:
        values_of(self).zero_()
        return self
    return assign(self, empty_of("zero_", self.shape, self.layout, self.dtype, self.device))


def both(compute):
    """Return the rule of an operator with two operands, as the engine calls it."""
    return lambda x, y, **options: compute(x, y, **options)


def accumulate(x, y):
    """Return the sum of two gradients, whichever of them is sparse."""
    return add(y, x) if is_sparse(x) and not is_sparse(y) else add(x, y)


ENGINE_RULES.update(add=lambda x, y, **_: accumulate(x, y), sub=both(sub), mul=both(mul), div=both(div))
