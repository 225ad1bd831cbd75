"""Sources whose calls have forms of their own: the program's data, and records with named features."""
from dragon.vm.dali.core.graph import call
from dragon.vm.dali.core.refusals import got


def external_source(source=None, num_outputs=None, *, cycle=None, name=None, device="cpu", layout=None, dtype=None,
                    ndim=None, cuda_stream=None, use_copy_kernel=None, blocking=None, batch=True, repeat_last=False,
                    parallel=None, no_copy=None, prefetch_queue_depth=None, bytes_per_sample_hint=None,
                    batch_info=None, **kwargs):
    """Take samples from the program: from a function, an iterable, or what `feed_input` brings.

    Parameters
    ----------
    source : Union[Callable, Iterable], optional
        Gives batches, or samples; without one `Pipeline.feed_input` does.
    num_outputs : int, optional
        How many arrays a sample has; one, not in a list, by default.
    cycle : Union[bool, str], optional
        Whether an iterable is walked again and again; "raise" ends an epoch between the walks.
    name : str, optional
        What `feed_input` calls it.
    device : str, optional, default="cpu"
        Where the program wants the data.
    layout, dtype, ndim : optional
        What the data are: one, or one for each output.
    batch : bool, optional, default=True
        Whether the source gives whole batches.
    repeat_last : bool, optional, default=False
        Whether the last batch that was fed stands for those that are not.
    parallel : bool, optional
        Whether several threads call the source, for samples.
    batch_info : bool, optional
        Whether the source is told of the epoch too.
    cuda_stream, use_copy_kernel, blocking, no_copy, prefetch_queue_depth, bytes_per_sample_hint : optional
        Hints for memory and devices, which change no result.

    """
    if source is not None and not callable(source) and not any(
            hasattr(source, name) for name in ("__iter__", "__next__", "__getitem__")):
        raise TypeError(got("external_source", type(source).__name__, "a callable or an iterable"))
    made = call("external_source", (), {
        "source": source, "num_outputs": num_outputs, "cycle": cycle or None, "name": name, "device": device,
        "layout": layout, "dtype": dtype, "ndim": ndim, "batch": batch, "repeat_last": repeat_last,
        "parallel": bool(parallel), "batch_info": bool(batch_info), **kwargs})
    return [made] if num_outputs == 1 else made


def read_tfrecord(path, index_path, features, **arguments):
    """Read the features of examples in TFRecord files.

    Parameters
    ----------
    path, index_path : Union[str, Sequence[str]]
        The files, and the index of each: a line of offset and size for each record.
    features : Dict[str, dragon.vm.dali.core.readers.records.Feature]
        What is read, by name.
    arguments : Any
        Of all readers.

    Returns
    -------
    Dict[str, DataNode]
        The features.

    """
    made = call("readers.tfrecord", (), {"path": path, "index_path": index_path, "features": features, **arguments})
    return dict(zip(features, made if isinstance(made, list) else [made]))
