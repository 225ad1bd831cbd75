"""Paths through sequences of classes: beams of CTC, labels without repetition, and numbers that only fall."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


def _add_logs(one, other):
    """Return the logarithm of the sum of two numbers by their logarithms."""
    import math
    low, high = sorted((one, other))
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def _search(log_chances, width, blank):
    """Return (label sequence, log chance) pairs of one sample, the likeliest first."""
    import math
    beams = {(): (0.0, -math.inf)}  # the chances of paths that end in a blank, and in the last label
    for step in log_chances:
        found = {}

        def put(labels, kind, value):
            pair = found.setdefault(labels, [-math.inf, -math.inf])
            pair[kind] = _add_logs(pair[kind], value)
        for labels, (ends_blank, ends_label) in beams.items():
            total = _add_logs(ends_blank, ends_label)
            put(labels, 0, total + step[blank])
            if labels:
                put(labels, 1, ends_label + step[labels[-1]])
            for label, chance in enumerate(step):
                if label != blank:
                    before = ends_blank if labels and labels[-1] == label else total
                    if before > -math.inf:
                        put((*labels, label), 1, before + chance)
        kept = sorted(found.items(), key=lambda item: -_add_logs(*item[1]))[:width]
        beams = {labels: tuple(pair) for labels, pair in kept}
    return [(labels, _add_logs(*pair)) for labels, pair in beams.items()]


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """Return (the likeliest label sequences as SparseTensors, their log chances); the last class is the blank.

    Parameters
    ----------
    inputs : Tensor
        Logits, (times, batch, classes).
    sequence_length : Tensor
        How many times count for each sample.
    beam_width : int, optional, default=100
        How many beginnings are followed.
    top_paths : int, optional, default=1
        How many sequences are returned.

    Returns
    -------
    Tuple[List[SparseTensor], Tensor]
        `top_paths` sparse tensors of int64, and (batch, top_paths).

    """
    import numpy as np

    from dragon.vm.shared.sparse.tensor import SparseTensor
    if top_paths > beam_width:
        raise invalid_argument(f"top_paths must be at most beam_width. Received: {top_paths} and {beam_width}")
    logits = take(inputs)
    if logits.ndim != 3:
        raise ValueError(f"`inputs` must have rank 3: times, batch, classes. Received: shape {logits.shape}")
    chances = ops.log_softmax(logits, -1).numpy().astype("float64")
    lengths = convert_to_tensor(sequence_length).numpy()
    paths = [_search(chances[:length, row].tolist(), int(beam_width), chances.shape[-1] - 1)
             for row, length in enumerate(lengths)]
    scores = np.array([[path[number][1] if number < len(path) else -np.inf for number in range(top_paths)]
                       for path in paths], logits.dtype.as_numpy_dtype).reshape(len(paths), top_paths)
    decoded = []
    for number in range(top_paths):
        rows = [path[number][0] if number < len(path) else () for path in paths]
        places = [(row, place) for row, labels in enumerate(rows) for place in range(len(labels))]
        values = [label for labels in rows for label in labels]
        decoded.append(SparseTensor(np.array(places, "int64").reshape(-1, 2), np.array(values, "int64"),
                                    (len(rows), max(map(len, rows), default=0))))
    return decoded, convert_to_tensor(scores)


def collapse_repeated(labels, seq_length, name=None):
    """Return (labels without those that repeat the one before, how many are left), padded with zeros.

    Parameters
    ----------
    labels : Tensor
        (batch, times).
    seq_length : Tensor
        How many labels count.

    """
    import numpy as np
    table, lengths = convert_to_tensor(labels), convert_to_tensor(seq_length)
    array, counts = table.numpy(), lengths.numpy()
    rows = [[label for place, label in enumerate(row[:count]) if not place or row[place - 1] != label]
            for row, count in zip(array.tolist(), counts.tolist())]
    made = np.zeros((len(rows), max(map(len, rows), default=0)), array.dtype)
    for number, row in enumerate(rows):
        made[number, :len(row)] = row
    return convert_to_tensor(made), convert_to_tensor(np.array([len(row) for row in rows], counts.dtype))


def ctc_unique_labels(labels, name=None):
    """Return (the different labels of each row, padded with zeros, the place among them of each label)."""
    import numpy as np
    array = convert_to_tensor(labels).numpy().astype("int64")
    unique, places = np.zeros_like(array), np.zeros(array.shape, "int32")
    for number, row in enumerate(array):
        found = {}
        for place, label in enumerate(row.tolist()):
            places[number, place] = found.setdefault(label, len(found))
        unique[number, :len(found)] = list(found)
    return convert_to_tensor(unique), convert_to_tensor(places)


def isotonic_regression(inputs, decreasing=True, axis=-1):
    """Return (the nearest numbers that only fall, or only rise, along an axis; the blocks of equal ones).

    Parameters
    ----------
    inputs : Tensor
        The numbers.
    decreasing : bool, optional, default=True
        Whether they fall.
    axis : int, optional, default=-1
        Along which axis.

    Returns
    -------
    Tuple[Tensor, Tensor]
        The numbers, and int32 numbers of blocks.

    """
    import numpy as np
    x = take(inputs)
    wide = x if x.dtype.is_floating else ops.cast(x, "float64" if x.dtype.size > 2 else "float32")
    if not wide.ndim or 0 in wide.shape:  # nothing, or one number, is in order
        return wide, ops.zeros(tuple(wide.shape), dtype="int32")
    moved = ops.movedim(wide, axis, -1)
    rows = ops.reshape(moved, (-1, moved.shape[-1]))
    blocks = np.zeros(rows.shape, "int32")
    for number, row in enumerate(rows.numpy().astype("float64")):
        sums = []  # of each block: its mean, and how many numbers it has
        for value in (row if decreasing else -row):
            mean, count = value, 1
            while sums and sums[-1][0] < mean:
                last, size = sums.pop()
                mean, count = (last * size + mean * count) / (size + count), size + count
            sums.append((mean, count))
        blocks[number] = np.repeat(np.arange(len(sums)), [count for _, count in sums])
    numbers = convert_to_tensor(blocks.astype("int64"))
    total = ops.scatter_add(ops.zeros_like(rows), 1, numbers, rows)
    count = ops.scatter_add(ops.zeros_like(rows), 1, numbers, ops.ones_like(rows))
    found = ops.gather(ops.div(total, ops.clamp(count, 1.0, None)), 1, numbers)
    shape = tuple(moved.shape)
    return (ops.movedim(ops.reshape(found, shape), -1, axis),
            ops.movedim(ops.reshape(convert_to_tensor(blocks), shape), -1, axis))
