"""The class of sparse tensors, and the table of what is computed of them.

A sparse tensor is made of strided ones: its indices, and its values, whose dtype, device and history are its own. Every
function of the API that meets one asks the table below by the function's name; what is not there is refused by name.
"""
from dragon.core import parts
from dragon.vm.torch.core import layout as layouts
from dragon.vm.torch.core.kinds import (COMMON, KINDS, TensorOfParts, parts_of, rules_into, take_form, tensors_among,
                                        values_of)
from dragon.vm.torch.core.size import Size

# How a function is computed from parts, by its name: the same for `torch.<name>` and `Tensor.<name>`.
RULES = {}
# The same for operators that the engine calls by itself, whose arguments have other names.
ENGINE_RULES = {}
COMPRESSED = {"sparse_csr": ("crow_indices", "col_indices"), "sparse_bsr": ("crow_indices", "col_indices"),
              "sparse_csc": ("ccol_indices", "row_indices"), "sparse_bsc": ("ccol_indices", "row_indices")}
BLOCKS = ("sparse_bsr", "sparse_bsc")
ROW_MAJOR = ("sparse_csr", "sparse_bsr")


rule = rules_into(RULES)


class SparseTensor(TensorOfParts):
    """A tensor of which only some elements are held: `torch.Tensor` in another layout."""

    RULES, ENGINE_RULES = RULES, ENGINE_RULES

    @classmethod
    def _refusal(cls, name, *arguments):
        return refusal(name, *arguments)

    def _aligned(self, given):
        return values_of(given.sparse_mask(self))


SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"
SparseTensor.__module__ = "torch"
RULES.update(COMMON)
KINDS.update(dict.fromkeys(("sparse_coo", *COMPRESSED), SparseTensor))


def refusal(name, *arguments):
    """Return what is raised where a function has no rule for sparse tensors."""
    found = next((item for item in tensors_among(arguments) if isinstance(item, SparseTensor)), None)
    came = "a sparse tensor" if found is None else f"a tensor of layout {layout_of(found)!r}"
    return NotImplementedError(f"{name}: got {came}, expected strided tensors: .to_dense() makes one")


def is_sparse(x):
    """Return whether an object is a sparse tensor, of any layout."""
    return isinstance(x, SparseTensor)


def name_of(x):
    """Return the name of a sparse tensor's layout, such as "sparse_coo"; "strided" for any other tensor."""
    return parts.parts_of(x)[0] if isinstance(x, SparseTensor) else "strided"


def layout_of(x):
    """Return a tensor's layout."""
    return getattr(layouts, name_of(x))


def is_coordinates(x):
    """Return whether a tensor is of layout `torch.sparse_coo`."""
    return name_of(x) == "sparse_coo"


def is_compressed(x):
    """Return whether a tensor is of one of the compressed layouts."""
    return name_of(x) in COMPRESSED


def is_coalesced(x):
    """Return whether the indices of a tensor of coordinates are known to be in order, each there once."""
    return x.__dict__.get("_is_coalesced", parts.parts_of(x)[2])


def make(layout, tensors, shape, coalesced=False):
    """Return a sparse tensor of parts, which are not looked at."""
    return parts.make_of_parts(layout, tensors, tuple(shape), coalesced)


def make_coordinates(indices, values, shape, coalesced=False):
    """Return a tensor of layout `torch.sparse_coo`; one value alone is in order."""
    return make("sparse_coo", (indices, values), shape, coalesced or values.shape[0] < 2)


def with_values(x, values, shape=None):
    """Return a sparse tensor with the indices of another."""
    layout, held, _ = parts.parts_of(x)
    coalesced = layout == "sparse_coo" and is_coalesced(x)
    return make(layout, (*held[:-1], values), x.shape if shape is None else shape, coalesced)


def replace(x, other):
    """Have a sparse tensor be what another one of its layout is, in place.

    The values take on other numbers, so that whoever holds the tensor sees them; only those without history can.
    """
    mine, theirs = parts_of(x), parts_of(other)
    if name_of(x) != name_of(other):
        raise RuntimeError(f"in-place: got a result of layout {layout_of(other)!r}, expected {layout_of(x)!r}")
    if mine[-1].requires_grad or theirs[-1].requires_grad:
        raise NotImplementedError("in-place: got a sparse tensor whose number of values changes while gradients are "
                                  "recorded, expected one without requires_grad, or the form that returns its result")
    if mine[-1] is not theirs[-1]:
        mine[-1].data = theirs[-1]
    take_form(x, other)
    return x


def sparse_dim(x):
    """Return the number of axes that indices tell; for the compressed layouts 2, batches beside."""
    return parts_of(x)[0].shape[0] if is_coordinates(x) else 2


def batch_dim(x):
    """Return the number of leading axes along which a compressed tensor is many."""
    return parts_of(x)[0].ndim - 1 if is_compressed(x) else 0


def dense_dim(x):
    """Return the number of trailing axes in which the values are dense."""
    return x.ndim - batch_dim(x) - sparse_dim(x)


def block_of(x):
    """Return the height and width of the blocks: 1 and 1 for the layouts without any."""
    if name_of(x) not in BLOCKS:
        return 1, 1
    return tuple(values_of(x).shape[batch_dim(x) + 1:batch_dim(x) + 3])


def value_count(x):
    """Return the number of values, or blocks, of one tensor of a batch."""
    return parts_of(x)[-1].shape[0] if is_coordinates(x) else parts_of(x)[1].shape[-1]


def sizes(shape):
    """Return a shape as PyTorch's."""
    return Size(shape)
