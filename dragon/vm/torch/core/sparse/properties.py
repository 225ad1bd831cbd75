"""What a sparse tensor says of itself: layout, indices and values, and what of its history is that of its values."""
from dragon.vm.torch.core.gradients import backward
from dragon.vm.torch.core.kinds import detach, take_form
from dragon.vm.torch.core.register import method
from dragon.vm.torch.core.sentences import named
from dragon.vm.torch.core.sparse.parts import (COMPRESSED, SparseTensor, dense_dim, is_coalesced,
                                               is_coordinates, is_sparse, layout_of, name_of, parts_of, rule,
                                               sparse_dim, value_count, values_of)
from dragon.vm.torch.core.tensor import _numel, ops

SparseTensor.layout = property(layout_of, doc="How the tensor is held.")
SparseTensor.is_sparse = property(is_coordinates, doc="Whether the layout is `torch.sparse_coo`.")
SparseTensor.is_sparse_csr = property(lambda self: name_of(self) == "sparse_csr",
                                      doc="Whether the layout is `torch.sparse_csr`.")


@property
def nbytes(self):
    """The bytes of a compressed tensor's values, as if all were held."""
    if is_coordinates(self):
        raise RuntimeError("nbytes: got a tensor of layout torch.sparse_coo, expected another: add the nbytes of the "
                           "indices and values, or take that of to_dense()")
    return _numel(self) * self.itemsize


SparseTensor.nbytes = nbytes
SparseTensor.data = property(detach, lambda self, value: assign_data(self, value),
                             doc="The same tensor without autograd.")


def assign_data(self, value):
    """Have the tensor hold another one's parts."""
    if not is_sparse(value) or name_of(value) != name_of(self):
        raise RuntimeError(f"data: got a tensor of layout {layout_of(value)!r}, expected {layout_of(self)!r}")
    if tuple(self.shape) != tuple(value.shape):
        raise RuntimeError(f"data: got shape {tuple(value.shape)}, expected {tuple(self.shape)}")
    values_of(self).data = values_of(value).detach()
    take_form(self, value)


@rule("backward")
def run_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Add gradients into the `grad` of the leaves."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def require(who, x, *names):
    """Raise unless a tensor is of one of some layouts."""
    if name_of(x) not in names:
        wanted = " or ".join("torch." + name for name in names)
        raise RuntimeError(f"{who}: got a tensor of layout {layout_of(x)!r}, expected {wanted}")


def _asks(name, answer, *names, sentence):
    """Register a method that strided tensors have too, where it raises."""
    def ask(self):
        require(name, self, *names)
        return answer(self)
    method(rule(name)(named(ask, name, sentence)))


def _coalesced(name, answer):
    def ask(self):
        if is_coordinates(self) and not is_coalesced(self):
            raise RuntimeError(f"{name}: got an uncoalesced tensor, expected a coalesced one: please call .coalesce() "
                               "first")
        return answer(self)
    return ask


def _alias(part):
    """Return a part that is not the tensor's own object: its history, too, goes on from here."""
    return ops.view(part, part.shape)


_asks("indices", _coalesced("indices", lambda x: parts_of(x)[0]), "sparse_coo",
      sentence="Return the indices of a coalesced tensor: one row for each sparse axis.")
_asks("values", _coalesced("values", lambda x: _alias(values_of(x))), "sparse_coo", *COMPRESSED,
      sentence="Return the values of a coalesced or compressed tensor, with their history.")
_asks("_indices", lambda x: parts_of(x)[0], "sparse_coo", sentence="Return the indices as they are held.")
_asks("_values", lambda x: values_of(x).detach(), "sparse_coo", sentence="Return the values as they are held, off the "
      "tape.")
_asks("crow_indices", lambda x: parts_of(x)[0], "sparse_csr", "sparse_bsr", sentence="Return where rows begin.")
_asks("col_indices", lambda x: parts_of(x)[1], "sparse_csr", "sparse_bsr", sentence="Return the columns of values.")
_asks("ccol_indices", lambda x: parts_of(x)[0], "sparse_csc", "sparse_bsc", sentence="Return where columns begin.")
_asks("row_indices", lambda x: parts_of(x)[1], "sparse_csc", "sparse_bsc", sentence="Return the rows of values.")
_asks("is_coalesced", is_coalesced, "sparse_coo", sentence="Return whether indices are in order, each there once.")
_asks("_nnz", value_count, "sparse_coo", *COMPRESSED, sentence="Return how many values, or blocks, are held.")
_asks("_dimI", sparse_dim, "sparse_coo", sentence="Return the number of axes that indices tell.")
_asks("_dimV", dense_dim, "sparse_coo", sentence="Return the number of axes of the values.")
rule("sparse_dim")(sparse_dim)
rule("dense_dim")(dense_dim)


@method
def coalesce(self):
    """Return the tensor with indices in order, each there once; for sparse tensors."""
    require("coalesce", self, "sparse_coo")
    return self.coalesce()


@method
def _coalesced_(self, coalesced):
    """Say whether indices are in order, each there once."""
    require("_coalesced_", self, "sparse_coo")
    self.__dict__["_is_coalesced"] = bool(coalesced)
    return self


rule("_coalesced_")(_coalesced_.__wrapped__)


@rule("item", "tolist")
def number_of(self):
    """Return the number of a tensor of one element."""
    if _numel(self) != 1:
        raise RuntimeError(f"item: got a tensor of layout {layout_of(self)!r} with {_numel(self)} elements, expected "
                           "one element; .to_dense() makes a strided tensor")
    return self.to_dense().item()


def _plain(name, answer):
    rule(name)(answer if answer is _numel else named(answer, name, f"Answer `{name}` of sparse tensors."))


for _name, _answer in {
        "numel": _numel,
        "nelement": _numel,
        "dim": lambda self: self.ndim,
        "ndimension": lambda self: self.ndim,
        "element_size": lambda self: self.itemsize,
        "storage_offset": lambda self: 0,
        "is_same_size": lambda self, other: tuple(self.shape) == tuple(other.shape),
        "is_contiguous": lambda self, memory_format=None: False,
        "is_nonzero": lambda input: bool(input),
        "_is_view": lambda self: False,
        "is_set_to": lambda self, tensor: self is tensor,
        "__reversed__": lambda self: self.flip(0),
        "resolve_conj": lambda input: input,
        "resolve_neg": lambda input: input,
        "alias_copy": lambda input: input.clone(),
        "expand_as": lambda self, other: self.expand(other.shape)}.items():
    _plain(_name, _answer)


@rule("numpy", "__array__")
def numpy(self, *args, **kwargs):
    """Refuse: NumPy has no sparse arrays."""
    raise TypeError(f"numpy: can't convert {layout_of(self)!r} layout tensor to numpy; expected a strided one: use "
                    "Tensor.to_dense() first")


def truth(self):
    """Return whether the only element is not zero."""
    if _numel(self) != 1:
        raise RuntimeError(f"bool: got a sparse tensor of {_numel(self)} elements, expected one")
    return bool(self.to_dense())


SparseTensor.__bool__ = truth
SparseTensor.item = SparseTensor.tolist = number_of
SparseTensor.__int__ = lambda self: int(number_of(self))
SparseTensor.__float__ = lambda self: float(number_of(self))
SparseTensor.__complex__ = lambda self: complex(number_of(self))


@rule("storage", "untyped_storage", "_typed_storage", "data_ptr")
def storage(self):
    """Refuse: there is no one memory behind a sparse tensor."""
    raise NotImplementedError(f"storage: got a tensor of layout {layout_of(self)!r}, expected a strided one: its "
                              "indices and values have storages")


@rule("stride")
def stride(self, dim=None):
    """Return zeros for coordinates; compressed tensors have no strides."""
    require("stride", self, "sparse_coo")
    return (0,) * self.ndim if dim is None else 0
