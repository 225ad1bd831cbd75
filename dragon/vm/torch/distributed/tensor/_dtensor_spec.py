"""What is known of a tensor on a mesh: the mesh, the placements, and the form of the whole."""
from typing import NamedTuple

from dragon.distributed.globals.layout import Layout
from dragon.vm.torch.distributed.tensor.placement_types import Placement, Shard, placement_of


class TensorMeta(NamedTuple):
    """The form of a whole tensor."""

    shape: tuple
    stride: tuple
    dtype: object


class DTensorSpec:
    """How a tensor lies on a mesh.

    Parameters
    ----------
    mesh : DeviceMesh
        The mesh.
    placements : Sequence[Placement]
        One for each axis of the mesh.
    tensor_meta : TensorMeta, optional
        The form of the whole tensor.

    """

    __slots__ = ("mesh", "placements", "tensor_meta", "signatures", "_layout", "_hash")

    def __init__(self, mesh, placements, tensor_meta=None):
        self.mesh, self.placements, self.tensor_meta = mesh, tuple(placements), tensor_meta
        self.signatures, self._layout = tuple(placement.signature for placement in self.placements), None
        self._hash = None

    @classmethod
    def of(cls, mesh, signatures, tensor_meta):
        """Return the spec of signatures."""
        return cls(mesh, [placement_of(signature) for signature in signatures], tensor_meta)

    device_mesh = property(lambda self: self.mesh, doc="DeviceMesh: the mesh.")
    shape = property(lambda self: self.tensor_meta.shape, doc="Size: the shape of the whole tensor.")
    stride = property(lambda self: self.tensor_meta.stride, doc="tuple: its strides.")
    ndim = property(lambda self: len(self.tensor_meta.shape), doc="int: how many axes it has.")

    @property
    def layout(self):
        """Layout: who holds what."""
        if self._layout is None:
            self._layout = Layout(self.mesh._globals, self.tensor_meta.shape, self.signatures)
        return self._layout

    @property
    def num_shards(self):
        """int: into how many parts the tensor is cut."""
        found = 1
        for placement, size in zip(self.placements, self.mesh.shape):
            found *= size if placement.is_shard() else 1
        return found

    @property
    def dim_map(self):
        """List[int]: for each axis of the tensor, the axis of the mesh that cuts it; -1 for none."""
        found = [-1] * self.ndim
        for axis, placement in enumerate(self.placements):
            if placement.is_shard():
                found[placement.dim] = axis
        return found

    def is_replicated(self):
        """Return whether each process has all of it."""
        return all(placement.is_replicate() for placement in self.placements)

    def is_sharded(self):
        """Return whether the tensor is cut."""
        return any(placement.is_shard() for placement in self.placements)

    def __eq__(self, other):
        return self is other or isinstance(other, DTensorSpec) and (
            self.placements == other.placements and self.tensor_meta == other.tensor_meta and self.mesh == other.mesh)

    def __hash__(self):
        if self._hash is None:
            self._hash = hash((self.mesh, self.placements, self.tensor_meta))
        return self._hash

    def __getstate__(self):
        return self.mesh, self.placements, self.tensor_meta

    def __setstate__(self, state):
        self.__init__(*state)

    def __repr__(self):
        return f"Spec({''.join(map(str, self.placements))} on {tuple(self.shape) if self.tensor_meta else None})"


def check_placements(who, placements, mesh, ndim):
    """Return placements, one for each axis of a mesh, whose axes of tensors count from the first.

    Parameters
    ----------
    who : str
        Who asks.
    placements : Sequence[Placement]
        What was given.
    mesh : DeviceMesh
        The mesh.
    ndim : int
        How many axes the tensor has.

    Returns
    -------
    Tuple[Placement, ...]
        The placements.

    """
    placements = tuple(placements)
    if len(placements) != mesh.ndim:
        raise ValueError(f"`placements` must have the same length as `device_mesh.ndim`! Found placements length: "
                         f"{len(placements)}, and device_mesh.ndim: {mesh.ndim}.")
    found, reductions = [], set()
    for placement in placements:
        if not isinstance(placement, Placement):
            raise RuntimeError(f"{who}: got {placement!r} among placements, expected Shard, Replicate or Partial")
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise IndexError(f"{who}: got {placement!r} for a tensor of {ndim} axes, expected an axis from {-ndim} "
                                 f"to {ndim - 1}")
            if placement.dim < 0:
                signature = type(placement.signature)(placement.dim + ndim, placement.signature.pieces)
                placement = placement_of(signature)
        if placement.is_partial():
            reductions.add(placement.reduce_op)
        found.append(placement)
    if len(reductions) > 1:
        raise ValueError(f"{who}: got mixed Partial reduce types {sorted(reductions)}, expected one")
    return tuple(found)
