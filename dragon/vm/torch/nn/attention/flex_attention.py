"""Attention with scores and masks of one's own: functions of (batch, head, query, key), called once for all places."""
import inspect
import math
from typing import NamedTuple, Optional

from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.tensor import Tensor, ops

_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """The things that `flex_attention` is asked for beside the values."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The things that `flex_attention` returns beside the values."""

    lse: Optional[Tensor] = None
    max_scores: Optional[Tensor] = None


def noop_mask(batch, head, token_q, token_kv):
    """Hide nothing."""
    return ops.ones((), dtype="bool", device=batch.device)


def and_masks(*mask_mods):
    """Return a mask of the places that all masks show."""
    return _combined(mask_mods, ops.bitwise_and, True)


def or_masks(*mask_mods):
    """Return a mask of the places that any of the masks shows."""
    return _combined(mask_mods, ops.bitwise_or, False)


def _combined(mask_mods, combine, start):
    if not all(callable(mask_mod) for mask_mod in mask_mods):
        raise RuntimeError(f"got {mask_mods}, expected functions of (batch, head, query, key)")

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
        queries = rows[1].shape[-2] * self.BLOCK_SIZE[0] if len(index) == 3 else self.seq_lengths[0]
        return BlockMask.from_kv_blocks(*rows, self.BLOCK_SIZE, self.mask_mod if len(index) < 3 else None,
                                        (min(queries, self.seq_lengths[0]), self.seq_lengths[1]),
                                        self.q_indices is not None)

    def __repr__(self):
        fields = [f"    {name}={value if value is None else value.shape},"
                  for name, value in ((name, getattr(self, name)) for name in self._TENSORS)]
        return "\n".join(["BlockMask(", *fields, f"    BLOCK_SIZE={self.BLOCK_SIZE},", f"    shape={self.shape},",
                          f"    sparsity={self.sparsity():.2f}%,",
                          f"    mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}", ")"])

    def __str__(self):
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


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


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None, *, return_aux=None):
    """Attend with scores and masks of one's own.

    Parameters
    ----------
    query, key, value : Tensor
        (batch, heads, length, size).
    score_mod : Callable, optional
        A function of a score and the indices of batch, head, query and key: the new score. It is called once with
        tensors that broadcast to all places, so it has to be written in operators.
    block_mask : BlockMask, optional
        Which keys each query sees.
    scale : float, optional
        The factor of the products; by default one over the root of the size.
    enable_gqa : bool, optional, default=False
        Whether heads of keys and values serve several heads of queries.
    return_lse : bool, optional, default=False
        Whether the logarithm of the weights' sums is returned too.
    kernel_options : dict, optional
        How GPU kernels are tuned; the CPU has nothing to tune.
    return_aux : AuxRequest, optional
        What else is returned.

    Returns
    -------
    Union[Tensor, Tuple[Tensor, Tensor], Tuple[Tensor, AuxOutput]]
        The attended values, and what was asked for.

    """
    if not query.ndim == key.ndim == value.ndim == 4:
        raise NotImplementedError(f"flex_attention: got {query.shape}, {key.shape} and {value.shape}, expected 4 dims")
    if query.shape[1] != key.shape[1]:
        if not enable_gqa:
            raise ValueError(f"flex_attention: got {query.shape[1]} heads of queries and {key.shape[1]} of keys, "
                             "expected equally many without enable_gqa")
        groups = query.shape[1] // key.shape[1]
        key, value = (ops.repeat_interleave(x, groups, 1) for x in (key, value))
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    working = query.dtype if query.dtype.itemsize >= 4 else "float32"
    scores = ops.cast(ops.matmul(query, ops.transpose(key, -2, -1)), working) * scale
    indices = places(scores.shape, scores.device)
    if score_mod is not None:
        scores = ops.cast(score_mod(scores, *indices), working)
    if block_mask is not None:
        shown = ops.expand(block_mask.mask_mod(*indices), scores.shape)
        rows, columns = block_mask.BLOCK_SIZE
        dense = ops.repeat_interleave(ops.repeat_interleave(block_mask.to_dense(), rows, -2), columns, -1)
        dense = ops.cast(dense, "bool")[..., :scores.shape[-2], :scores.shape[-1]]
        scores = ops.masked_fill(scores, ops.logical_not(ops.logical_and(shown, dense)), -math.inf)
    sums = ops.logsumexp(scores, -1, True)
    # A query that sees nothing attends to nothing.
    blind = ops.isneginf(sums)
    weights = ops.exp(scores - ops.masked_fill(sums, blind, 0.0))
    made = ops.matmul(ops.cast(weights, query.dtype), value)
    sums = ops.squeeze(sums, -1)
    if return_aux is not None:
        greatest = ops.amax(scores, -1) if return_aux.max_scores else None
        return made, AuxOutput(sums if return_aux.lse else None, greatest)
    return (made, sums) if return_lse else made
