"""Sequences of different lengths as one array, and windows that move over one long series."""
from dragon.vm.keras.utils.grain_datasets import check_format, make_batches, make_elements


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Return sequences as one array: short ones are filled up, long ones cut.

    Parameters
    ----------
    sequences : Sequence[Sequence]
        The sequences.
    maxlen : int, optional
        The length of all; by default that of the longest.
    dtype : str, optional, default="int32"
        The dtype of the array; object for strings.
    padding : str, optional, default="pre"
        "pre" or "post": on which side short ones are filled up.
    truncating : str, optional, default="pre"
        "pre" or "post": from which side long ones are cut.
    value : Union[float, str], optional, default=0.0
        What is filled in.

    Returns
    -------
    numpy.ndarray
        Of shape (number of sequences, maxlen, ...).

    Examples
    --------
    >>> keras.utils.pad_sequences([[1, 2, 3], [4]], maxlen=3)
    array([[1, 2, 3],
           [0, 0, 4]], dtype=int32)
    >>> keras.utils.pad_sequences([[1, 2, 3], [4]], maxlen=2, padding="post", truncating="post")
    array([[1, 2],
           [4, 0]], dtype=int32)

    """
    import numpy

    from dragon.io.stages.padding import pad
    if not hasattr(sequences, "__len__"):
        raise ValueError(f"`sequences` must be iterable. Received: sequences={sequences}")
    for name, side in (("Truncating", truncating), ("Padding", padding)):
        if side not in ("pre", "post"):
            raise ValueError(f'{name} type "{side}" not understood, expected "pre" or "post"')
    shape = None
    for x in sequences:
        if not hasattr(x, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {x}")
        if shape is None and len(x):
            shape = numpy.asarray(x).shape[1:]
    maxlen = max(map(len, sequences), default=0) if maxlen is None else maxlen
    kind = numpy.dtype(dtype) if dtype is not object else numpy.dtype(object)
    if isinstance(value, str) and kind != object and kind.kind not in "US":
        raise ValueError(f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set "
                         "`dtype=object` for variable length strings.")
    arrays = []
    for number, x in enumerate(sequences):
        if not len(x):
            arrays.append(numpy.empty((0, *(shape or ())), dtype))
            continue
        kept = numpy.asarray(x[-maxlen:] if truncating == "pre" else x[:maxlen], dtype=dtype)
        if kept.shape[1:] != shape:
            raise ValueError(f"Shape of sample {kept.shape[1:]} of sequence at position {number} is different from "
                             f"expected shape {shape}")
        arrays.append(kept)
    return pad(arrays, (maxlen, *(shape or ())), value, dtype, to_the_end=padding == "pre")


def timeseries_dataset_from_array(data, targets, sequence_length, sequence_stride=1, sampling_rate=1, batch_size=128,
                                  shuffle=False, seed=None, start_index=None, end_index=None, format="tf"):
    """Return a dataset of windows over a series, with a target each.

    Parameters
    ----------
    data : numpy.ndarray
        The series; its first axis is time.
    targets : Optional[numpy.ndarray]
        One for the window that starts at each time, or None.
    sequence_length : int
        How many steps a window has.
    sequence_stride : int, optional, default=1
        How many steps lie between the starts of windows.
    sampling_rate : int, optional, default=1
        Every how many steps a window takes one.
    batch_size : Optional[int], optional, default=128
        How many windows come at once; None for single ones.
    shuffle : bool, optional, default=False
        Whether windows come in random order.
    seed : int, optional
        Fixes that order.
    start_index, end_index : int, optional
        The part of the series that is used.

    Returns
    -------
    Dataset
        Batches of windows, or of (windows, targets).

    Examples
    --------
    >>> data = np.arange(6)
    >>> dataset = keras.utils.timeseries_dataset_from_array(data, targets=data[3:], sequence_length=3, batch_size=2)
    >>> for windows, targets in dataset:
    ...     print(np.asarray(windows).tolist(), np.asarray(targets).tolist())
    [[0, 1, 2], [1, 2, 3]] [3, 4]
    [[2, 3, 4]] [5]

    """
    import numpy

    from dragon.vm.shared.data.dataset import Dataset
    check_format(format)
    _check_windows(len(data), sequence_stride, sampling_rate, start_index, end_index)
    start, end = start_index or 0, len(data) if end_index is None else end_index
    count = end - start - (sequence_length - 1) * sampling_rate
    count = count if targets is None else min(count, len(targets))
    starts = numpy.arange(0, count, sequence_stride, dtype="int32" if count < 2 ** 31 - 1 else "int64")
    if shuffle:
        seed = numpy.random.randint(1000000) if seed is None else seed
        numpy.random.RandomState(seed).shuffle(starts)
    series = numpy.asarray(data)[start:end]
    steps = numpy.arange(sequence_length) * sampling_rate
    # A window is a row of numbers of steps; those of a batch are gathered at once.
    wanted = None if targets is None else numpy.asarray(targets)[start:end]
    if format == "grain":
        windows = [series[first + steps] for first in starts]
        elements = make_elements(windows, None if wanted is None else wanted[starts], shuffle, seed)
        return make_batches(elements, batch_size)
    dataset = Dataset.from_tensor_slices(starts)
    if batch_size is not None:
        if shuffle:
            dataset = dataset.shuffle(buffer_size=batch_size * 8, seed=seed)
        dataset = dataset.batch(batch_size)
    elif shuffle:
        dataset = dataset.shuffle(buffer_size=1024, seed=seed)

    def window(first):
        first = numpy.asarray(first)
        found = series[first[..., None] + steps]
        return found if wanted is None else (found, wanted[first])
    return _map_arrays(dataset, window)


def _map_arrays(dataset, function):
    """Return a dataset of what a function of arrays makes of each element."""
    from dragon.vm.shared.tensors.convert import convert_to_tensor

    def convert(first):
        found = function(first.numpy())
        return tuple(map(convert_to_tensor, found)) if isinstance(found, tuple) else convert_to_tensor(found)
    return dataset.map(convert).prefetch(-1)


def _check_windows(length, sequence_stride, sampling_rate, start_index, end_index):
    if start_index and not 0 <= start_index < length:
        raise ValueError("`start_index` must be 0 or greater, and lower than the length of the data. Received: "
                         f"start_index={start_index}, for data of length {length}")
    if end_index is not None and end_index:
        if start_index and end_index <= start_index:
            raise ValueError(f"`end_index` must be higher than `start_index`. Received: start_index={start_index}, and "
                             f"end_index={end_index}")
        if not 0 < end_index < length:
            raise ValueError("`end_index` must be higher than 0 and lower than the length of the data. Received: "
                             f"end_index={end_index}, for data of length {length}")
    for name, value in (("sampling_rate", sampling_rate), ("sequence_stride", sequence_stride)):
        if not 0 < value < length:
            raise ValueError(f"`{name}` must be higher than 0 and lower than the length of the data. Received: "
                             f"{name}={value}, for data of length {length}")
