"""From one layout to another, and sparse tensors of other dtypes, on other devices, copied."""
from dragon.core.parts import parts_of as look
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.functions.conversion import OLD_TYPES, dtype_of_type, parse_to
from dragon.vm.torch.core.register import method
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse.compressed import as_coordinates, compress
from dragon.vm.torch.core.sparse.coordinates import from_dense, to_dense as dense_of
from dragon.vm.torch.core.sparse.parts import (BLOCKS, COMPRESSED, ENGINE_RULES, batch_dim, block_of, dense_dim,
                                               is_coordinates, is_sparse, layout_of, make, name_of,
                                               parts_of, replace, rule, sparse_dim, values_of, with_values)
from dragon.vm.torch.core.tensor import Tensor, ops


def to_layout(x, layout, block=None, dense=None):
    """Return a tensor, strided or sparse, in a sparse layout.

    Parameters
    ----------
    x : Tensor
        What is converted.
    layout : str
        The layout's name.
    block : Sequence[int], optional
        Height and width of the blocks.
    dense : int, optional
        How many of the last axes of a strided tensor stay dense.

    Returns
    -------
    Tensor
        The tensor itself if nothing changes.

    """
    who = "to_" + layout
    if block is not None and layout not in BLOCKS:
        raise RuntimeError(f"{who}: got blocksize {tuple(block)}, expected it for torch.sparse_bsr and "
                           "torch.sparse_bsc alone")
    if is_sparse(x):
        if dense not in (None, dense_dim(x)):
            raise RuntimeError(f"{who}: got dense_dim {dense} for a tensor with {dense_dim(x)}, expected the same")
        if name_of(x) == layout and (block is None or tuple(block) == block_of(x)):
            return x
        held = as_coordinates(x)
        block = block_of(x) if block is None and name_of(x) in BLOCKS else block
    else:
        dense = 0 if dense is None else int(dense)
        if not 0 <= dense <= max(x.ndim - (layout != "sparse_coo") * 2, 0):
            raise RuntimeError(f"{who}: got dense_dim {dense} for {x.ndim} dims, expected 2 dims at least that are not "
                               "dense")
        if x.ndim < 2 and layout != "sparse_coo":
            raise RuntimeError(f"{who}: got {x.ndim} dims, expected at least 2")
        held = from_dense(x, x.ndim - dense)
    return held if layout == "sparse_coo" else compress(held, layout, block)


@method
def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """Return the tensor in a sparse layout, in coordinates unless another one is named.

    Parameters
    ----------
    sparse_dim : int, optional
        How many of the first axes the indices of coordinates tell; all by default.
    layout : layout, optional
        The layout.
    blocksize : Sequence[int], optional
        Height and width of blocks, for the layouts that have any.
    dense_dim : int, optional
        How many of the last axes stay dense; none by default.

    Returns
    -------
    Tensor
        The same numbers; itself if nothing changes.

    """
    if sparse_dim is not None:
        return by_sparse_dim(self, int(sparse_dim), layout, blocksize, dense_dim)
    wanted = layouts.sparse_coo if layout is None else layout
    if wanted is layouts.strided:
        return self if not is_sparse(self) else to_dense(self)
    if type(wanted) is not layouts.layout or repr(wanted).removeprefix("torch.") not in (*COMPRESSED, "sparse_coo"):
        raise RuntimeError(f"to_sparse: got layout={wanted!r}, expected one of torch.sparse_coo, "
                           + ", ".join("torch." + name for name in COMPRESSED))
    return to_layout(self, repr(wanted).removeprefix("torch."), blocksize, dense_dim)


def by_sparse_dim(x, count, layout, blocksize, dense):
    """Return a tensor in coordinates with a number of sparse axes."""
    if layout not in (None, layouts.sparse_coo) or blocksize is not None or dense is not None:
        raise RuntimeError("to_sparse: got sparse_dim with a layout, blocksize or dense_dim, expected it alone: it is "
                           "for coordinates")
    if is_sparse(x):
        if count != (sparse_dim(x) if is_coordinates(x) else 2):
            raise RuntimeError(f"to_sparse: got sparse_dim {count} for a tensor of layout {layout_of(x)!r} with "
                               f"{sparse_dim(x)}, expected the same")
        return as_coordinates(x)
    if not (0 < count <= x.ndim or count == x.ndim == 0):
        raise RuntimeError(f"to_sparse: got sparse_dim {count} for {x.ndim} dims, expected 1 to {x.ndim}")
    return from_dense(x, count)


def _to(name):
    """Register the method that converts to a compressed layout."""
    if name in BLOCKS:
        def convert(self, blocksize, dense_dim=None):
            return to_layout(self, name, blocksize, dense_dim)
    else:
        def convert(self, dense_dim=None):
            return to_layout(self, name, None, dense_dim)
    made = named(convert, "to_" + name, f"Return the tensor in the layout `torch.{name}`; itself if it is.")
    rule("to_" + name)(made)
    method(made)


for _name in COMPRESSED:
    _to(_name)


@method
def to_sparse_coo(self):
    """Return the tensor in coordinates; itself if it is."""
    return to_layout(self, "sparse_coo")


rule("to_sparse")(to_sparse.__wrapped__)
rule("to_sparse_coo")(to_sparse_coo.__wrapped__)


@rule()
def to_dense(self, dtype=None, *, masked_grad=None):
    """Return the tensor as a strided one."""
    if masked_grad is False and values_of(self).requires_grad:
        raise NotImplementedError("to_dense: got masked_grad=False for a tensor that requires grad, expected True: "
                                  "gradients of sparse tensors are those of their values")
    made = dense_of(as_coordinates(self))
    return made if dtype is None else made.to(dtype)


@rule("to")
def to(self, *args, **kwargs):
    """Return the tensor in another dtype or on another device; itself if nothing changes."""
    where, dtype, copy, memory_format = parse_to(args, dict(kwargs))
    if memory_format not in (None, layouts.preserve_format):
        raise RuntimeError(f"to: got memory_format={memory_format!r} for a tensor of layout {layout_of(self)!r}, "
                           "expected torch.preserve_format")
    layout, parts, coalesced = look(self)
    moved = [part if where is None else part.to(where) for part in parts]
    if dtype is not None:
        moved[-1] = moved[-1].to(dtype)
    if all(new is old for new, old in zip(moved, parts)):
        return clone(self) if copy else self
    return make(layout, moved, self.shape, coalesced or layout == "sparse_coo" and self.is_coalesced())


@rule("cpu")
def cpu(self, memory_format=None):
    """Return the tensor on the CPU; itself if it is there."""
    return to(self, "cpu", memory_format=memory_format)


@rule("cuda")
def cuda(self, device=None, non_blocking=False, memory_format=None):
    """Return the tensor on a CUDA device."""
    return to(self, "cuda" if device is None else device, memory_format=memory_format)


@rule("type_as")
def type_as(self, other):
    """Return the tensor with another one's dtype and device."""
    return to(self, other.device, other.dtype)


def _caster(name, dtype):
    RULES_OF_CASTS[name] = rule(name)(named(lambda self, memory_format=None: to(self, dtype), name,
                                            f"Return the tensor as `{dtype}`; itself if it is."))


RULES_OF_CASTS = {}
for _name, _dtype in (("float", "float32"), ("double", "float64"), ("half", "float16"), ("bfloat16", "bfloat16"),
                      ("int", "int32"), ("long", "int64"), ("short", "int16"), ("cfloat", "complex64"),
                      ("cdouble", "complex128"), ("bool", "bool"), ("byte", "uint8"), ("char", "int8")):
    _caster(_name, OBJECTS[_dtype])


@rule("type")
def type_(self, dtype=None, non_blocking=False):
    """Return the name of the tensor's old type, or the tensor as another dtype."""
    if dtype is not None:
        if isinstance(dtype, str):
            dtype = dtype.replace("torch.sparse.", "torch.")
        return to(self, dtype_of_type(dtype))
    if not is_coordinates(self):
        raise RuntimeError(f"type: got a tensor of layout {layout_of(self)!r}, expected torch.sparse_coo: compressed "
                           "tensors have no old types")
    return "torch.sparse." + OLD_TYPES[self.dtype.name]


@rule("clone")
def clone(input, *, memory_format=None):
    """Return a copy, on the tape."""
    layout, parts, _ = look(input)
    return make(layout, [ops.clone(part) for part in parts], input.shape,
                layout == "sparse_coo" and input.is_coalesced())


@rule("contiguous")
def contiguous(self, memory_format=None):
    """Return the tensor with parts that are contiguous."""
    layout, parts, _ = look(self)
    if all(part.is_contiguous() for part in parts):
        return self
    return make(layout, [ops.contiguous(part) for part in parts], self.shape,
                layout == "sparse_coo" and self.is_coalesced())


@rule("copy_")
def copy_(self, src, non_blocking=False):
    """Become what another tensor of the layout is."""
    if not is_sparse(self) or not is_sparse(src) or name_of(self) != name_of(src):
        raise RuntimeError(f"copy_: got a tensor of layout {layout_of(src)!r} for one of {layout_of(self)!r}, expected "
                           "both of one layout")
    return assign(self, clone(src.detach() if not src.requires_grad else src).to(self.dtype))


def assign(x, other):
    """Write a sparse tensor of the same layout into another one."""
    mine, theirs = parts_of(x), parts_of(other)
    alike = all(a.shape == b.shape for a, b in zip(mine, theirs)) and tuple(x.shape) == tuple(other.shape)
    if alike and all(a is b or bool(ops.all(ops.eq(a, b))) for a, b in zip(mine[:-1], theirs[:-1])):
        if mine[-1] is not theirs[-1]:
            mine[-1].copy_(theirs[-1])
        if is_coordinates(x):
            x.__dict__["_is_coalesced"] = other.is_coalesced()
        return x
    return replace(x, other)


@rule("sparse_mask")
def sparse_mask(self, mask):
    """Return the tensor's values at the places that a sparse tensor holds."""
    from dragon.vm.torch.core.sparse.coordinates import in_pattern
    if not is_sparse(mask):
        raise RuntimeError("sparse_mask: got a strided mask, expected a sparse one")
    if tuple(self.shape) != tuple(mask.shape):
        raise RuntimeError(f"sparse_mask: got a tensor of shape {tuple(self.shape)} and a mask of {tuple(mask.shape)}, "
                           "expected the same: operands have incompatible sizes")
    source = as_coordinates(self) if is_sparse(self) else self
    if is_coordinates(mask):
        return in_pattern(source, mask)
    places = as_coordinates(with_values(mask, values_of(mask).detach()))
    picked = values_of(in_pattern(source, places))
    return with_values(mask, ops.reshape(picked, (*values_of(mask).shape[:1 + batch_dim(mask)],
                                                  *(block_of(mask) if name_of(mask) in BLOCKS else ()),
                                                  *picked.shape[1:])))


Tensor.sparse_mask = ops.overridable(sparse_mask)
for _name in ("as_tensor", "asarray"):
    rule(_name)(named(lambda data, dtype=None, device=None, **options: to(
        data, data.device if device is None else device, data.dtype if dtype is None else dtype), _name,
        "Return the tensor in a dtype and on a device."))


@rule("tensor")
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """Return a copy of a sparse tensor, a leaf."""
    if not is_sparse(data):
        raise TypeError("tensor: got nested data with a sparse tensor in it, expected the sparse tensor alone")
    made = clone(data.detach()).to(data.device if device is None else device, data.dtype if dtype is None else dtype)
    return made.requires_grad_() if requires_grad else made


@rule("resize_as_")
def resize_as_(self, the_template, *, memory_format=None):
    """Become a tensor of another one's shape, without values; itself if it has that shape."""
    if tuple(self.shape) == tuple(the_template.shape):
        return self
    from dragon.vm.torch.core.sparse.shapes import sparse_resize_and_clear_
    return sparse_resize_and_clear_(self, the_template.shape, sparse_dim(the_template), dense_dim(the_template))


ENGINE_RULES.update(clone=lambda x: clone(x), cast=lambda x, dtype: to(x, dtype),
                    to_device=lambda x, device: to(x, device), copy=lambda x: clone(x))
