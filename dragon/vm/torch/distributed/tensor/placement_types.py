"""Placements of a tensor on the processes along an axis of a mesh, under PyTorch's names."""
from dragon.distributed.globals.layout import share
from dragon.distributed.globals.signatures import BROADCAST, Split
from dragon.distributed.globals.signatures import Partial as PartialSignature

REDUCTIONS = {"sum": "sum", "avg": "average", "product": "product", "max": "maximum", "min": "minimum"}


class Placement:
    """The placement of a tensor on the processes of one axis of a mesh."""

    __slots__ = ("signature",)

    def is_shard(self, dim=None):
        """Return whether each process has a part, cut along an axis."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self):
        """Return whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        """Return whether the processes' parts are yet to be reduced."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)

    def __eq__(self, other):
        return isinstance(other, Placement) and type(self) is type(other) and self.signature == other.signature

    def __hash__(self):
        return hash(self.signature)

    def __setattr__(self, name, value):
        raise AttributeError(f"{type(self).__name__}: got {name}={value!r}, expected no change: placements are values")

    def _signed(self, signature):
        object.__setattr__(self, "signature", signature)

    def __getstate__(self):
        return {"": None}  # what is empty would not be given back

    def __setstate__(self, state):
        self.__init__(**{name: value for name, value in state.items() if name})

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Replicate(Placement):
    """Each process has all of it."""

    __slots__ = ()

    def __init__(self):
        self._signed(BROADCAST)

    def __repr__(self):
        return "Replicate()"

    def __str__(self):
        return "R"


class Shard(Placement):
    """Each process has a part, cut along an axis.

    Parameters
    ----------
    dim : int
        The axis; negative ones count from the last when a tensor is placed.

    """

    __slots__ = ()

    def __init__(self, dim):
        self._signed(Split(dim))

    dim = property(lambda self: self.signature.axis, doc="int: the axis.")

    def __getstate__(self):
        return {"dim": self.dim}

    @staticmethod
    def local_shard_size_and_offset(curr_local_size, num_chunks, rank):
        """Return the size of a process's part and where it starts."""
        start, length = share(curr_local_size, num_chunks, rank)
        return length, start

    def __repr__(self):
        return f"Shard(dim={self.dim})"

    def __str__(self):
        return f"S({self.dim})"


class _StridedShard(Shard):
    """A part of each of some pieces, into which an axis is cut first, as another axis of the mesh will cut it.

    Parameters
    ----------
    dim : int
        The axis.
    split_factor : int
        How many pieces.

    """

    __slots__ = ()

    def __init__(self, dim, *, split_factor=1):
        self._signed(Split(dim, split_factor))

    split_factor = property(lambda self: self.signature.pieces, doc="int: how many pieces.")

    def __getstate__(self):
        return {"dim": self.dim, "split_factor": self.split_factor}

    def __repr__(self):
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self):
        return f"_S({self.dim}, {self.split_factor})"


class Partial(Placement):
    """The processes' parts are yet to be reduced.

    Parameters
    ----------
    reduce_op : str, optional, default="sum"
        "sum", "avg", "product", "max" or "min".

    """

    __slots__ = ("reduce_op",)

    def __init__(self, reduce_op="sum"):
        if reduce_op not in REDUCTIONS:
            raise ValueError(f"Partial: got reduce_op={reduce_op!r}, expected one of {', '.join(REDUCTIONS)}")
        object.__setattr__(self, "reduce_op", reduce_op)
        self._signed(PartialSignature(REDUCTIONS[reduce_op]))

    def __getstate__(self):
        return {"reduce_op": self.reduce_op}

    def __repr__(self):
        return f"Partial({self.reduce_op})"

    def __str__(self):
        return f"P({self.reduce_op})"


_WORDS = {reduction: word for word, reduction in REDUCTIONS.items()}
_known = {}


def placement_of(signature):
    """Return the placement of a signature."""
    found = _known.get(signature)
    if found is None:
        if type(signature) is Split:
            found = Shard(signature.axis) if signature.pieces == 1 else _StridedShard(
                signature.axis, split_factor=signature.pieces)
        else:
            found = Replicate() if signature == BROADCAST else Partial(_WORDS[signature.reduction])
        _known[signature] = found
    return found
