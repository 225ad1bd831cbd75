"""Rows of tables, and elements of tensors, whose gradients are sparse: they hold what was looked up, nothing else."""
from dragon.core.custom_function import Function
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.sparse.keys import count_up
from dragon.vm.torch.core.sparse.parts import make_coordinates
from dragon.vm.torch.core.tensor import ops

INT64 = OBJECTS["int64"]


def rows_gradient(index, grads, padding, shape):
    """Return the gradient of a table: a row for each index that was looked up, but for the padding."""
    index = index.to(INT64)
    if padding is not None:
        kept = ops.nonzero(ops.ne(index, padding))[:, 0]
        index, grads = ops.index_select(index, 0, kept), ops.index_select(grads, 0, kept)
    return make_coordinates(ops.unsqueeze(index, 0), grads, shape)


class SparseRows(Function):
    """Rows of a table by index."""

    @staticmethod
    def forward(ctx, weight, index, padding):
        """Return the rows."""
        ctx.index, ctx.padding, ctx.shape = index, padding, tuple(weight.shape)
        return ops.embedding(weight, index, padding, False)

    @staticmethod
    def backward(ctx, grad):
        """Return a gradient with a row for each index."""
        index = ops.reshape(ctx.index, (-1,))
        grads = ops.reshape(grad, (index.shape[0], *ctx.shape[1:]))
        return rows_gradient(index, grads, ctx.padding, ctx.shape), None, None


class SparseBags(Function):
    """Sums or means of bags of rows of a table."""

    @staticmethod
    def forward(ctx, weight, index, offsets, factors, mode, include_last, padding):
        """Return one row for each bag."""
        ctx.save_for_backward(weight, index, offsets, factors)
        ctx.options = mode, include_last, padding
        return ops.embedding_bag(weight, index, offsets, factors, False, mode, include_last, padding)[0]

    @staticmethod
    def backward(ctx, grad):
        """Return a gradient with a row for each index, and that of the factors."""
        weight, index, offsets, factors = ctx.saved_tensors
        mode, include_last, padding = ctx.options
        starts = offsets.to(INT64)
        starts = starts[:-1] if include_last else starts
        bag = ops.sub(ops.searchsorted(starts, count_up(index.shape[0], index), right=True), 1)
        grads = ops.index_select(grad, 0, bag)
        of_factors = None
        if factors is not None and ctx.needs_input_grad[3]:
            of_factors = ops.sum(ops.mul(grads, ops.index_select(weight, 0, index)), 1)
            if padding is not None:
                of_factors = ops.where(ops.eq(index, padding), ops.zeros_like(of_factors), of_factors)
        if factors is not None:
            grads = ops.mul(grads, ops.unsqueeze(factors, 1))
        if mode == "mean":
            counted = ops.ones_like(bag) if padding is None else ops.ne(index, padding).to(INT64)
            counts = ops.index_add(ops.zeros((starts.shape[0],), dtype=INT64, device=bag.device), 0, bag, counted)
            share = ops.clamp(ops.index_select(counts, 0, bag), 1).to(grads.dtype)
            grads = ops.div(grads, ops.unsqueeze(share, 1))
        found = rows_gradient(index, grads, padding, tuple(weight.shape))
        return found, None, None, of_factors, None, None, None


class SparseElements(Function):
    """Elements at places along an axis, as `gather` finds them."""

    @staticmethod
    def forward(ctx, input, dim, index):
        """Return the elements."""
        ctx.dim, ctx.index, ctx.shape = dim % max(input.ndim, 1), index, tuple(input.shape)
        return ops.gather(input, dim, index)

    @staticmethod
    def backward(ctx, grad):
        """Return a gradient that holds a value for each element that was found."""
        if not ctx.shape:
            return grad, None, None
        places = ops.nonzero(ops.ones_like(ctx.index))
        rows = [ops.reshape(ctx.index, (-1,)).to(INT64) if axis == ctx.dim else places[:, axis]
                for axis in range(len(ctx.shape))]
        return make_coordinates(ops.stack(rows, 0), ops.reshape(grad, (-1,)), ctx.shape), None, None
