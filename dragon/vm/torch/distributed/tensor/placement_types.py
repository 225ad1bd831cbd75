"""Placements of a tensor on several processes: values that say so, and nothing that does it."""
import dataclasses


class Placement:
    """The placement of a tensor on the processes of one axis of a mesh."""

    def is_shard(self, dim=None):
        """Return whether each process has a part, cut along an axis."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self):
        """Return whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        """Return whether the processes' parts are yet to be reduced."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclasses.dataclass(frozen=True)
class Replicate(Placement):
    """Each process has all of it."""

    def __str__(self):
        return "R"


@dataclasses.dataclass(frozen=True)
class Shard(Placement):
    """Each process has a part, cut along an axis."""

    dim: int

    @staticmethod
    def local_shard_size_and_offset(curr_local_size, num_chunks, rank):
        """Return the size of a process's part and where it starts."""
        step = -(-curr_local_size // num_chunks)
        start = min(step * rank, curr_local_size)
        return min(step * (rank + 1), curr_local_size) - start, start

    def __str__(self):
        return f"S({self.dim})"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _StridedShard(Shard):
    """A part cut along an axis that another axis of the mesh has cut before."""

    split_factor: int


@dataclasses.dataclass(frozen=True)
class Partial(Placement):
    """The processes' parts are yet to be reduced."""

    reduce_op: str = "sum"

    def __str__(self):
        return f"P({self.reduce_op})"
