"""The quick way of `vmap`: a function of pointwise operators and lookups is called once, with whole batches.

Slices are stood for by meta tensors that know the batch they belong to, and a mode sees every call: pointwise operators
run on batches whose axes are aligned, lookups become lookups of all slices at once. Whatever else the function does
ends the attempt, and the slow way begins: meta tensors have no numbers that could go astray.
"""
import functools

from dragon import _C
from dragon.vm.torch.core.overrides import DisableTorchFunction, TorchFunctionMode
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.utils._pytree import tree_flatten, tree_unflatten

# What acts on every number by itself, but is no operator of the engine's ...
ALIKE = frozenset("to float double half bfloat16 int long short bool byte clone contiguous detach zeros_like ones_like "
                  "full_like".split())
# ... what only looks at dtype and device ...
MAKERS = frozenset("new_ones new_zeros new_full new_tensor new_empty".split())
# ... and what the engine calls pointwise though it has an axis in mind, or draws random numbers.
NOT_POINTWISE = frozenset("prelu dropout bernoulli".split())
# ... and what is made of pointwise operators.
POINTWISE_TOO = frozenset("divide float_power ldexp nan_to_num rsub square".split())
# What works along axes that it names: these may do without a name, and then go over all of a slice's; those may not.
OVER_ALL, ALONG = frozenset("sum mean amax amin logsumexp".split()), frozenset("softmax log_softmax cumsum".split())
# What may be called with a list that holds no tensors.
SEQUENCES = OVER_ALL | ALONG | MAKERS | {"reshape"}


class Unsuited(Exception):
    """The function does something that is not done in batches."""


class Batched(Tensor):
    """A slice, standing for all: a meta tensor with its batch, whose first axis is the mapped one."""

    _is_stand_in = True

    @property
    def device(self):
        """Where the batch is."""
        return self.batch.device

    @property
    def requires_grad(self):
        """False; a batch with a history is for the slow way, if its function asks."""
        if self.batch.requires_grad:
            raise Unsuited("requires_grad")
        return False

    @requires_grad.setter
    def requires_grad(self, value):
        raise Unsuited("requires_grad")

    @property
    def is_leaf(self):
        """Nothing that a stand-in could know, like the next two."""
        raise Unsuited("the history of a slice")

    grad_fn = grad = is_leaf


def stand_in(batch, level):
    """Return what stands for the slices of a batch."""
    with DisableTorchFunction():
        made = ops.empty(tuple(batch.shape)[1:], dtype=batch.dtype, device="meta").as_subclass(Batched)
    made.batch, made.level = batch, level
    return made


@functools.lru_cache(maxsize=None)
def is_pointwise(name):
    """Return whether an operator acts on every number by itself."""
    if name in NOT_POINTWISE or name.endswith("_"):
        return False
    if name in POINTWISE_TOO:
        return True
    try:
        return bool(_C.schema(name)["pointwise"])
    except Exception:  # no operator of that name
        return False


class BatchMode(TorchFunctionMode):
    """Sees the calls of a mapped function."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if kwargs.get("generator") is not None:
            raise Unsuited("random numbers")
        values = [*args, *kwargs.values()]
        flat = [item for value in values for item in (value if isinstance(value, (list, tuple)) else (value,))]
        if not any(self.is_mine(item) for item in flat):
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name == "__getitem__":
            return self.look_up(*args)
        if "out" in kwargs or (len(flat) != len(values) and name not in SEQUENCES):
            raise Unsuited(name)
        if is_pointwise(name):
            aligned = self.align(values)
            found = func(*aligned[:len(args)], **dict(zip(kwargs, aligned[len(args):])))
        elif name in ALIKE and self.is_mine(args[0]) and not any(self.is_mine(item) for item in flat[1:]):
            found = func(args[0].batch, *args[1:], **kwargs)
        elif name in MAKERS:
            with DisableTorchFunction():
                like = ops.empty((), dtype=args[0].dtype, device=args[0].device)
            return func(like, *args[1:], **kwargs)
        elif name in OVER_ALL or name in ALONG:
            found = self.along_axes(func, name, *args, **kwargs)
        elif name == "matmul" and len(args) == 2:
            found = self.multiply(*args)
        elif name == "reshape":
            shape = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
            found = ops.reshape(args[0].batch, (args[0].batch.shape[0], *shape))
        else:
            raise Unsuited(name)
        if not isinstance(found, Tensor):
            raise Unsuited(name)
        return stand_in(found, self)

    def is_mine(self, value):
        """Return whether a value stands for slices of this mapping, rather than of one around it."""
        return isinstance(value, Batched) and value.level is self

    def align(self, values):
        """Return arguments as batches of equal rank, so that broadcasting pairs the right axes."""
        tensors = [value for value in values if isinstance(value, Tensor)]
        rank = max(tensor.ndim for tensor in tensors)
        if len({tensor.dtype for tensor in tensors}) > 1 and any(tensor.ndim == 0 for tensor in tensors) and rank:
            raise Unsuited("tensors without axes do not count in type promotion; their batches would")
        return [self.raise_rank(value, rank) if isinstance(value, Tensor) else value for value in values]

    def raise_rank(self, tensor, rank):
        """Return a tensor's batch, or the tensor as one, with a number of axes besides the first."""
        shape, mine = tuple(tensor.shape), self.is_mine(tensor)
        batch = tensor.batch if mine else tensor
        if mine and len(shape) == rank:
            return batch
        first = batch.shape[0] if mine else 1
        return ops.reshape(batch, (first, *(1,) * (rank - len(shape)), *shape))

    def along_axes(self, func, name, x, dim=None, *rest, **kwargs):
        """Return what a function of named axes makes of a batch; names from the end stay, others move by one."""
        if not self.is_mine(x) or x.ndim == 0 or (dim is None and name in ALONG):
            raise Unsuited(name)
        dims = tuple(range(x.ndim)) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        if not all(-x.ndim <= axis < x.ndim for axis in dims):
            raise Unsuited(name)
        dims = [axis + 1 if axis >= 0 else axis for axis in dims]
        return func(x.batch, dims if dim is None or isinstance(dim, (tuple, list)) else dims[0], *rest, **kwargs)

    def multiply(self, x, y):
        """Return the matrix product of batches, or of one with what is the same for all."""
        if max(x.ndim, y.ndim) > 2 or min(x.ndim, y.ndim) == 0:
            raise Unsuited("matmul")
        rows, columns = self.is_mine(x) and self.is_mine(y) and x.ndim == 1, self.is_mine(y) and y.ndim == 1
        left = x.batch if self.is_mine(x) else x
        right = y.batch if self.is_mine(y) else y
        if rows:
            left = ops.reshape(left, (left.shape[0], 1, left.shape[1]))
        if columns:
            right = ops.reshape(right, (*right.shape, 1))
        found = ops.matmul(left, right)
        keep = [size for axis, size in enumerate(found.shape)
                if not (columns and axis == found.ndim - 1) and not (rows and axis == 1)]
        return ops.reshape(found, keep)

    def look_up(self, table, index):
        """Return table[index]: by whole numbers, of which some or the table differ between slices."""
        parts = index if isinstance(index, tuple) else (index,)
        tensors = [part for part in parts if isinstance(part, Tensor)]
        if not tensors:
            if not all(part is None or part is Ellipsis or isinstance(part, (int, slice)) for part in parts):
                raise Unsuited("index")
            return stand_in(table.batch[(slice(None), *parts)], self)
        if any(not isinstance(part, (int, Tensor)) or isinstance(part, bool) for part in parts) or any(
                tensor.dtype.is_floating_point or tensor.dtype.name == "bool" for tensor in tensors):
            raise Unsuited("index")
        rank = max(tensor.ndim for tensor in tensors)
        places = tuple(self.raise_rank(part, rank) if isinstance(part, Tensor) else part for part in parts)
        if self.is_mine(table):
            count = table.batch.shape[0]
            with DisableTorchFunction():
                slices = ops.reshape(ops.arange(0, count, 1), (count, *(1,) * rank))
            return stand_in(table.batch[(slices, *places)], self)
        return stand_in(table[places], self)


def try_batched(func, leaves, dims, spec, count, kwargs):
    """Return (outputs' batches with the mapped axis first, None for those alike in all slices, plain outputs, spec).

    None if the function is not suited.
    """
    generator = _C.current_generator()
    state = _C.Generator.get_state(generator)
    mode = BatchMode()
    try:
        stand_ins = [leaf if dim is None else stand_in(leaf if dim == 0 else ops.movedim(leaf, dim, 0), mode)
                     for dim, leaf in zip(dims, leaves)]
        with mode:
            outputs, output_spec = tree_flatten(func(*tree_unflatten(stand_ins, spec), **kwargs))
        if _C.Generator.get_state(generator) != state:
            raise Unsuited("random numbers")
        batches = []
        for output in outputs:
            if not isinstance(output, Tensor) or (output.device.type == "meta" and not mode.is_mine(output)):
                raise Unsuited("output")
            if mode.is_mine(output):
                first, batch = output.batch.shape[0], output.batch
            else:
                first, batch = 1, ops.reshape(output, (1, *output.shape))
            batches.append(batch if first == count else ops.clone(ops.expand(batch, (count, *output.shape))))
        return batches, output_spec
    except Exception:  # whatever it was, the slow way meets it again if it is the function's own
        _C.Generator.set_state(generator, state)
        return None
