"""Sequences of different lengths: packed into one tensor, or padded to the longest."""
from collections import namedtuple
from typing import Optional

from dragon.core.refusals import refusing
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import Tensor, ops

PackedSequence_ = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])
PackedSequence_.__annotations__ = {"data": Tensor, "batch_sizes": Tensor, "sorted_indices": Optional[Tensor],
                                   "unsorted_indices": Optional[Tensor]}


def _cast(name, dtype):
    """Return a method that casts the elements."""
    def cast(self):
        return self.to(dtype=OBJECTS[dtype])
    cast.__name__, cast.__qualname__ = name, f"PackedSequence.{name}"
    cast.__doc__ = f"Return the sequences as `{dtype}`."
    return cast


class PackedSequence(PackedSequence_):
    """Sequences, sorted by length, step by step: all first elements, all second ones, and so on.

    Parameters
    ----------
    data : Tensor
        The elements.
    batch_sizes : Tensor
        How many sequences have an element at each step.
    sorted_indices, unsorted_indices : Tensor, optional
        The order of the sequences by length, and the way back.

    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("PackedSequence: got no batch_sizes, expected them or a pair (data, batch_sizes)")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be created "
                             f"manually; got device {batch_sizes.device}")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """Return the sequences with another dtype or device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        where = {name: value for name, value in kwargs.items() if name not in ("device", "dtype")}
        orders = [order if order is None else order.to(data.device, **where)
                  for order in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *orders)

    def cpu(self, *args, **kwargs):
        """Return the sequences on the CPU."""
        return self.to("cpu", *args, **kwargs)

    def cuda(self, *args, **kwargs):
        """Return the sequences on a CUDA device."""
        return self.to(*(args or ("cuda",)), **kwargs)

    double, float, half = _cast("double", "float64"), _cast("float", "float32"), _cast("half", "float16")
    long, int, short = _cast("long", "int64"), _cast("int", "int32"), _cast("short", "int16")
    char, byte = _cast("char", "int8"), _cast("byte", "uint8")

    is_cuda = property(lambda self: self.data.device.type == "cuda", doc="Whether the elements are on a CUDA device.")

    def is_pinned(self):
        """Return whether the elements are in pinned memory."""
        return self.data.is_pinned()

    def pin_memory(self):
        """Return the sequences in pinned memory."""
        return type(self)(self.data.pin_memory(), *self[1:])


@refusing
def invert_permutation(permutation):
    """Return the permutation that undoes one; None for None."""
    return None if permutation is None else ops.argsort(permutation)


def _present(lengths, steps):
    """Return where sequences have elements, `(step, sequence)`."""
    times = ops.unsqueeze(ops.arange(0, steps, 1, dtype=lengths.dtype, device=lengths.device), 1)
    return times < ops.unsqueeze(lengths, 0)


@refusing
def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Return padded sequences as a PackedSequence.

    Parameters
    ----------
    input : Tensor
        The sequences: `(step, sequence, ...)`.
    lengths : Union[Tensor, Sequence[int]]
        How long they are.
    batch_first : bool, optional, default=False
        The input is `(sequence, step, ...)`.
    enforce_sorted : bool, optional, default=True
        The longest come first; otherwise they are sorted.

    Returns
    -------
    PackedSequence
        The sequences.

    Examples
    --------
    >>> padded = torch.tensor([[1, 2], [3, 0]])
    >>> packed = nn.utils.rnn.pack_padded_sequence(padded, [2, 1], batch_first=True)
    >>> packed.data, packed.batch_sizes
    (tensor([1, 3, 2]), tensor([2, 1]))

    """
    if not isinstance(lengths, Tensor):
        from dragon.vm.torch.core.functions.creation import tensor
        lengths = tensor(lengths, dtype=OBJECTS["int64"])
    lengths = ops.cast(lengths, OBJECTS["int64"])
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = ops.sort(lengths, -1, True)
        sorted_indices = sorted_indices.to(input.device)
        input = ops.index_select(input, 0 if batch_first else 1, sorted_indices)
    input = ops.transpose(input, 0, 1) if batch_first else input
    found = lengths.tolist()
    if len(found) != input.shape[1]:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(found)} (batch_size="
                           f"{input.shape[1]})")
    if any(length <= 0 for length in found):
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is "
                           "<= 0")
    if any(later > earlier for earlier, later in zip(found, found[1:])):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
                           "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
                           "requirement if you do not need ONNX exportability.")
    if found[0] > input.shape[0]:
        raise RuntimeError(f"pack_padded_sequence: got a length of {found[0]}, expected at most {input.shape[0]}")
    present = _present(lengths, found[0])
    data = ops.index(ops.narrow(input, 0, 0, found[0]), [present.to(input.device)])
    return PackedSequence(data, ops.sum(present, 1), sorted_indices)


@refusing
def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """Return a PackedSequence as (padded tensor, lengths).

    Parameters
    ----------
    sequence : PackedSequence
        The sequences.
    batch_first : bool, optional, default=False
        Return `(sequence, step, ...)` in place of `(step, sequence, ...)`.
    padding_value : float, optional, default=0.0
        What stands after their ends.
    total_length : int, optional
        How many steps to pad to.

    Returns
    -------
    Tuple[Tensor, Tensor]
        The padded sequences and their lengths.

    Examples
    --------
    >>> packed = nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    >>> padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    >>> padded, lengths
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))

    """
    data, batch_sizes, _, unsorted_indices = sequence
    steps, batch = batch_sizes.shape[0], int(batch_sizes[0])
    if total_length is not None and total_length < steps:
        raise ValueError(f"Expected total_length to be at least the length of the longest sequence in input, but got "
                         f"total_length={total_length} and max sequence length being {steps}")
    # A sequence is as long as there are steps with more sequences than its place.
    places = ops.unsqueeze(ops.arange(0, batch, 1, dtype=OBJECTS["int64"]), 1)
    present = ops.transpose(places < ops.unsqueeze(batch_sizes, 0), 0, 1)
    lengths = ops.sum(present, 0)
    if total_length is not None and total_length > steps:
        missing = ops.zeros((total_length - steps, batch), dtype=OBJECTS["bool"])
        present = ops.cat([present, missing], 0)
    padded = ops.full((present.shape[0], batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    padded = ops.index_put(padded, [present.to(data.device)], data)
    padded = ops.transpose(padded, 0, 1) if batch_first else padded
    if unsorted_indices is None:
        return padded, lengths
    return (ops.index_select(padded, 0 if batch_first else 1, unsorted_indices),
            ops.index_select(lengths, 0, unsorted_indices.to("cpu")))


@refusing
def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Return sequences as one tensor, padded to the longest.

    Parameters
    ----------
    sequences : Iterable[Tensor]
        Of shapes `(step, ...)`.
    batch_first : bool, optional, default=False
        Return `(sequence, step, ...)` in place of `(step, sequence, ...)`.
    padding_value : float, optional, default=0.0
        What to pad with.
    padding_side : {"right", "left"}, optional
        Where.

    Returns
    -------
    Tensor
        The padded sequences.

    Examples
    --------
    >>> a, b = torch.tensor([1, 2, 3]), torch.tensor([4])
    >>> nn.utils.rnn.pad_sequence([a, b], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])

    """
    if not hasattr(sequences, "__iter__"):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: "
                           f"{type(sequences)}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    steps = max(sequence.shape[0] for sequence in sequences)
    padded = [_padded(sequence, steps - sequence.shape[0], padding_value, padding_side == "left")
              for sequence in sequences]
    return ops.stack(padded, 0 if batch_first else 1)


def _padded(sequence, count, value, left):
    """Return a sequence with `count` further steps."""
    if count == 0:
        return sequence
    around = [0, 0] * (sequence.dim() - 1) + ([count, 0] if left else [0, count])
    return ops.pad(sequence, around, "constant", value)


@refusing
def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """Return the sequences of a padded tensor, as a list."""
    padded = padded_sequences if batch_first else ops.transpose(padded_sequences, 0, 1)
    return [sequence[:length] for sequence, length in zip(padded, lengths.tolist())]


@refusing
def pack_sequence(sequences, enforce_sorted=True):
    """Return sequences as a PackedSequence."""
    sequences = list(sequences)
    lengths = [sequence.shape[0] for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


@refusing
def unpack_sequence(packed_sequences):
    """Return the sequences of a PackedSequence, as a list."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
