"""Masks of attention as blocks: which are computed, which of them whole."""
import inspect
import itertools
import math

from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.tensor import ops

_DEFAULT_SPARSE_BLOCK_SIZE = 128


def noop_mask(batch, head, token_q, token_kv):
    """Hide nothing."""
    return ops.ones((), dtype="bool", device=batch.device)


def _sliced_mask_mod_error(batch, head, token_q, token_kv):
    """Raise: a part of a mask does not know where it lay."""
    raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")


def and_masks(*mask_mods):
    """Return a mask of the places that all masks show."""
    return _combined(mask_mods, ops.bitwise_and, True)


def or_masks(*mask_mods):
    """Return a mask of the places that any of the masks shows."""
    return _combined(mask_mods, ops.bitwise_or, False)


def _combined(mask_mods, combine, start):
    if not all(callable(mask_mod) for mask_mod in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}; expected functions of (batch, head, "
                           "query, key)")

    def mask(b, h, q_idx, kv_idx):
        made = ops.full((), start, dtype="bool", device=b.device)
        for mask_mod in mask_mods:
            made = combine(made, mask_mod(b, h, q_idx, kv_idx))
        return made
    return mask


def places(sizes, device):
    """Return the indices of batches, heads, queries and keys, shaped so that they broadcast to all places."""
    return [ops.reshape(ops.arange(0, size, dtype="int64", device=device),
                        [size if axis == own else 1 for axis in range(4)]) for own, size in enumerate(sizes)]


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """Return what a function of masks says at every place, or one of scores about zeros, (B, H, Q_LEN, KV_LEN)."""
    sizes, device = (B or 1, H or 1, Q_LEN, KV_LEN), as_device(device)
    indices = places(sizes, device)
    positional = [parameter for parameter in inspect.signature(mod_fn).parameters.values()
                  if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
                  and parameter.default is parameter.empty]
    if len(positional) == 5:
        made = mod_fn(ops.zeros(sizes, device=device), *indices)
        return ops.where(ops.isneginf(made), ops.zeros((), dtype="bool"), ops.ones((), dtype="bool"))
    return ops.contiguous(ops.expand(mod_fn(*indices), sizes))


def ordered(dense):
    """Return how many blocks each row has, and their numbers first."""
    numbers = ops.argsort(ops.cast(dense, "int32"), -1, True, True)
    return ops.sum(dense, -1, dtype="int32"), ops.cast(numbers, "int32")


def unordered(counts, indices):
    """Return which blocks rows have, as zeros and ones."""
    width = indices.shape[-1]
    listed = ops.arange(0, width, device=indices.device) < ops.unsqueeze(counts, -1)
    dense = ops.zeros(indices.shape, dtype="int32", device=indices.device)
    return ops.scatter(dense, -1, ops.cast(indices, "int64"), ops.cast(listed, "int32"))


class BlockMask:
    """A mask as blocks: those where all is shown, those where some is, and none of the rest.

    Parameters
    ----------
    seq_lengths : Tuple[int, int]
        How many queries and keys.
    kv_num_blocks, kv_indices : Tensor
        For each row of blocks how many are partly shown, and which.
    full_kv_num_blocks, full_kv_indices : Tensor, optional
        The same of blocks that are shown whole.
    q_num_blocks, q_indices, full_q_num_blocks, full_q_indices : Tensor, optional
        The same for each column.
    BLOCK_SIZE : Tuple[int, int], optional, default=(128, 128)
        The size of blocks.
    mask_mod : Callable, optional
        What is shown within a block.

    """

    _TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "q_num_blocks", "q_indices",
                "full_q_num_blocks", "full_q_indices")

    def __init__(self, seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, q_num_blocks,
                 q_indices, full_q_num_blocks, full_q_indices, BLOCK_SIZE=(128, 128), mask_mod=noop_mask):
        if kv_indices.ndim < 2:
            raise RuntimeError(f"BlockMask: got kv_indices of {kv_indices.shape}, expected at least 2 dims")
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod
        for name, value in zip(self._TENSORS, (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices,
                                               q_num_blocks, q_indices, full_q_num_blocks, full_q_indices)):
            setattr(self, name, value)

    @classmethod
    def from_kv_blocks(cls, kv_num_blocks, kv_indices, full_kv_num_blocks=None, full_kv_indices=None, BLOCK_SIZE=128,
                       mask_mod=None, seq_lengths=None, compute_q_blocks=True):
        """Return the mask that rows of blocks describe."""
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("BlockMask: got one of full_kv_num_blocks and full_kv_indices, expected both or none")
        sizes = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
        columns = [None] * 4
        if compute_q_blocks:
            columns[:2] = ordered(ops.transpose(unordered(kv_num_blocks, kv_indices), -2, -1))
            if full_kv_num_blocks is not None:
                columns[2:] = ordered(ops.transpose(unordered(full_kv_num_blocks, full_kv_indices), -2, -1))
        lengths = seq_lengths or tuple(count * size for count, size in zip(kv_indices.shape[-2:], sizes))
        return cls(lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *columns, sizes,
                   mask_mod or noop_mask)

    shape = property(lambda self: (*tuple(self.kv_indices.shape)[:-2], *self.seq_lengths),
                     doc="The shape of the mask: batches, heads, queries and keys.")

    def numel(self):
        """Return the number of places."""
        return math.prod(self.shape)

    def sparsity(self):
        """Return how much of the places lies in blocks that are not computed, in percent."""
        blocks = ops.sum(self.kv_num_blocks).item()
        if self.full_kv_num_blocks is not None:
            blocks += ops.sum(self.full_kv_num_blocks).item()
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self):
        """Return which blocks are computed, as zeros and ones."""
        dense = unordered(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None:
            return dense
        return ops.bitwise_or(dense, unordered(self.full_kv_num_blocks, self.full_kv_indices))

    def as_tuple(self, flatten=True):
        """Return the fields in the order of the constructor."""
        lengths, sizes = (self.seq_lengths, self.BLOCK_SIZE)
        tensors = [getattr(self, name) for name in self._TENSORS]
        return (*lengths, *tensors, *sizes, self.mask_mod) if flatten else (lengths, *tensors, sizes, self.mask_mod)

    def _with(self, change, seq_lengths=None):
        changed = (None if getattr(self, name) is None else change(getattr(self, name)) for name in self._TENSORS)
        return BlockMask(seq_lengths or self.seq_lengths, *changed, self.BLOCK_SIZE, self.mask_mod)

    def to(self, device):
        """Return the mask on a device."""
        return self._with(lambda x: x.to(device))

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        # Integers keep their axis, as the mask always has batches and heads.
        index = tuple(slice(item, item + 1 or None) if isinstance(item, int) else item for item in index)
        if len(index) > 3:
            raise RuntimeError(f"BlockMask: got {len(index)} indices, expected batches, heads and blocks of queries")
        rows = [None if getattr(self, name) is None else getattr(self, name)[index] for name in self._TENSORS[:4]]
        return BlockMask.from_kv_blocks(*rows, self.BLOCK_SIZE, _sliced_mask_mod_error, self.seq_lengths,
                                        self.q_indices is not None)

    def _adjust(self, new_q_len, new_kv_len):
        """Return the mask of fewer queries and keys, the first ones."""
        rows, columns = (-(-length // size) for length, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE))
        parts = []
        for counts, indices in ((self.kv_num_blocks, self.kv_indices),
                                (self.full_kv_num_blocks, self.full_kv_indices)):
            parts += (None, None) if counts is None else ordered(unordered(counts, indices)[..., :rows, :columns])
        return BlockMask.from_kv_blocks(*parts, self.BLOCK_SIZE, self.mask_mod, (new_q_len, new_kv_len),
                                        self.q_indices is not None)

    def to_string(self, grid_size=(20, 20), limit=4):
        """Return a drawing of the blocks: full, partly computed (where one sign stands for several) or empty.

        Parameters
        ----------
        grid_size : Union[int, Tuple[int, int]], optional, default=(20, 20)
            How many rows and columns are drawn at most; -1 for all.
        limit : int, optional, default=4
            How many pairs of a batch and a head are drawn.

        Returns
        -------
        str
            The drawing.

        """
        dense = self.to_dense()
        *leading, rows, columns = dense.shape
        most = (rows, columns) if grid_size == -1 else (grid_size,) * 2 if isinstance(grid_size, int) else grid_size
        down, right = (max(1, -(-size // many)) for size, many in zip((rows, columns), most))
        drawn = []
        for number, place in enumerate(itertools.product(*map(range, leading))):
            if number == limit:
                drawn += ["...", "To print out more, set BlockMask.to_string(limit=N)",
                          "You can also index (BlockMask[batch, head]) to choose a specific batch or head"]
                break
            cells = dense[place].tolist()
            lines = [str(place)]
            for top in range(0, rows, down):
                parts = [[cell for row in cells[top:top + down] for cell in row[left:left + right]]
                         for left in range(0, columns, right)]
                lines.append("".join(2 * ("█" if all(part) else "░" if any(part) else " ") for part in parts))
            drawn.append("\n".join(lines) + "\n")
        return "\n".join(drawn)

    def __repr__(self):
        fields = [f"    {name}={value if value is None else value.shape},"
                  for name, value in ((name, getattr(self, name)) for name in self._TENSORS)]
        return "\n".join(["BlockMask(", *fields, f"    BLOCK_SIZE={self.BLOCK_SIZE},", f"    shape={self.shape},",
                          f"    sparsity={self.sparsity():.2f}%,",
                          f"    mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}", ")"])

    def __str__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE,
                      _compile=False, separate_full_blocks=True):
    """Return the blocks of a mask.

    Parameters
    ----------
    mask_mod : Callable
        A function of the indices of batch, head, query and key: whether the query sees the key.
    B, H : int, optional
        How many batches and heads there are masks for; None for one that serves all.
    Q_LEN, KV_LEN : int
        How many queries and keys.
    device : device, optional
        Where the mask is made.
    BLOCK_SIZE : Union[int, Tuple[int, int]], optional, default=128
        The size of blocks.
    separate_full_blocks : bool, optional, default=True
        Whether blocks that are shown whole are told apart.

    Returns
    -------
    BlockMask
        The mask.

    """
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    mask = ops.pad(ops.cast(mask, "int32"), (0, -KV_LEN % columns, 0, -Q_LEN % rows))
    batches, heads, queries, keys = mask.shape
    blocks = ops.reshape(mask, (batches, heads, queries // rows, rows, keys // columns, columns))
    shown = ops.sum(blocks, (3, 5))
    full = ops.logical_and(shown == rows * columns, ops.full((), separate_full_blocks, dtype="bool"))
    some = ops.logical_and(shown > 0, ops.logical_not(full))
    whole = ordered(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(*ordered(some), *whole, (rows, columns), mask_mod, (Q_LEN, KV_LEN))
