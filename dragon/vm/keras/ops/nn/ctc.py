"""Sequences without alignment: their loss, and how they are read."""
from dragon.core import modes
from dragon.vm.keras.ops.common import cast_to, dtype_of, operation, ops, result_type, tensor


@operation
def ctc_loss(target, output, target_length, output_length, mask_index=0):
    """Return the negative logarithms of the probabilities of label sequences, over all their alignments.

    Parameters
    ----------
    target : Tensor
        Batch, labels.
    output : Tensor
        Batch, time, classes: logits.
    target_length, output_length : Tensor
        How many labels and times count.

    Returns
    -------
    Tensor
        One number for each sequence.

    """
    target, output = tensor(target), tensor(output)
    if target.ndim != 2 or output.ndim != 3:
        raise ValueError("Targets must have rank 2, outputs rank 3. "
                         f"Received: target.shape={tuple(target.shape)}, output.shape={tuple(output.shape)}")
    dtype = result_type(dtype_of(output), "float32")
    chances = ops.log_softmax(ops.transpose(cast_to(output, dtype), 0, 1), -1)
    lengths = [cast_to(tensor(x), "int64") for x in (output_length, target_length)]
    mask_index = mask_index + output.shape[-1] if mask_index < 0 else mask_index
    return ops.ctc_loss(chances, cast_to(target, "int64"), *lengths, mask_index, "none")


@operation
def ctc_decode(inputs, sequence_lengths, strategy="greedy", beam_width=100, top_paths=1, merge_repeated=True,
               mask_index=0):
    """Read label sequences from logits.

    Parameters
    ----------
    inputs : Tensor
        Batch, time, classes.
    sequence_lengths : Tensor
        How many times count.
    strategy : str, optional, default="greedy"
        "greedy" takes the best class of each time, "beam_search" the best sequences.
    beam_width, top_paths : int, optional
        How many sequences a search follows, and returns.
    merge_repeated : bool, optional, default=True
        Whether a class that is repeated is one label.

    Returns
    -------
    Tuple[Tensor, Tensor]
        Labels: paths, batch, time, filled with -1; and a score of each.

    """
    inputs = tensor(inputs)
    inputs = cast_to(inputs, result_type(dtype_of(inputs), "float32"))
    lengths = cast_to(tensor(sequence_lengths), "int64")
    mask_index = mask_index + inputs.shape[-1] if mask_index < 0 else mask_index
    if modes.is_phantom() and strategy in ("greedy", "beam_search"):  # how long sequences are depends on numbers
        paths = 1 if strategy == "greedy" else int(top_paths)
        return ops.zeros((paths, *inputs.shape[:2]), dtype="int32"), ops.zeros((inputs.shape[0], paths),
                                                                               dtype=dtype_of(inputs))
    if strategy == "greedy":
        return _read_greedily(inputs, lengths, merge_repeated, mask_index)
    if strategy == "beam_search":
        return _search(inputs, lengths, int(beam_width), int(top_paths), mask_index)
    raise ValueError(f"Invalid strategy. Supported values are 'greedy' and 'beam_search'. Received: {strategy}")


def _read_greedily(inputs, lengths, merge_repeated, mask_index):
    best, classes = ops.max_axis(inputs, -1)
    inside = ops.lt(ops.arange(inputs.shape[1]), ops.unsqueeze(lengths, 1))
    keep = ops.logical_and(inside, ops.ne(classes, mask_index))
    if merge_repeated:
        before = ops.pad(ops.narrow(classes, 1, 0, inputs.shape[1] - 1), [1, 0], "constant", -1)
        keep = ops.logical_and(keep, ops.ne(classes, before))
    # What is kept moves to the front; all else goes to a place behind the end, which is cut off.
    places = ops.where(keep, ops.sub(ops.cumsum(cast_to(keep, "int64"), 1), 1), inputs.shape[1])
    made = ops.full((inputs.shape[0], inputs.shape[1] + 1), -1, dtype="int64")
    made = ops.narrow(ops.scatter(made, 1, places, classes), 1, 0, inputs.shape[1])
    score = ops.neg(ops.sum(ops.where(inside, best, 0.0), 1, True))
    return ops.unsqueeze(cast_to(made, "int32"), 0), score


def _search(inputs, lengths, beam_width, top_paths, mask_index):
    import numpy as np
    chances = ops.log_softmax(inputs, -1).numpy()
    batch, times = chances.shape[:2]
    paths = np.full((top_paths, batch, times), -1, dtype=np.int32)
    scores = np.zeros((batch, top_paths), dtype=chances.dtype)
    for row, length in enumerate(lengths.tolist()):
        for rank, (path, score) in enumerate(_best_paths(chances[row, :length], beam_width, top_paths, mask_index)):
            paths[rank, row, :len(path)] = path
            scores[row, rank] = score
    return tensor(paths), tensor(scores)


def _best_paths(chances, beam_width, top_paths, mask_index):
    """Return the best sequences and their log probabilities: each is followed with and without a mask at its end."""
    import numpy as np
    low = -np.inf
    beams = {(): (0.0, low)}
    for now in chances:
        grown = {}
        for path, (masked, plain) in beams.items():
            total = np.logaddexp(masked, plain)
            _enter(grown, path, total + now[mask_index], low)
            for label, chance in enumerate(now):
                if label == mask_index:
                    continue
                if path and path[-1] == label:
                    _enter(grown, path, low, plain + chance)
                    _enter(grown, (*path, label), low, masked + chance)
                else:
                    _enter(grown, (*path, label), low, total + chance)
        best = sorted(grown.items(), key=lambda item: -np.logaddexp(*item[1]))
        beams = dict(best[:beam_width])
    ranked = sorted(((path, np.logaddexp(*ends)) for path, ends in beams.items()), key=lambda item: -item[1])
    return ranked[:top_paths]


def _enter(beams, path, masked, plain):
    """Add the chances of a path that ends with and without a mask."""
    import numpy as np
    before = beams.get(path, (-np.inf, -np.inf))
    beams[path] = (np.logaddexp(before[0], masked), np.logaddexp(before[1], plain))
