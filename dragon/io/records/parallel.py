"""Several processes that write the shards of one set of samples."""
import functools
import multiprocessing
import os
import re

from dragon.io.pool import follow_parent
from dragon.io.records.writer import KPLRecordWriter

# Samples are asked for so many at a time.
AT_ONCE = 64
# What a worker finds when it is forked: functions and samples need not be pickled.
_job = None


def write_parallel(samples, path, workers=2, shards=None, encode=None, compression=None, metadata=None):
    """Write samples into several KPLRecord files by several processes; read in order, they have the samples' order.

    Parameters
    ----------
    samples : Union[Sequence, Iterable]
        What is written, or what `encode` makes it from. Of what has no length a list is made first: then let it be
        names, and let `encode` do the reading.
    path : Union[str, os.PathLike]
        "name.kpl" becomes "name-00003-of-00010.kpl".
    workers : int, optional, default=2
        How many processes write; 0 for this one.
    shards : int, optional
        How many files there will be; as many as workers by default.
    encode : Callable, optional
        What makes a sample of an item, in a worker.
    compression, metadata : optional
        As for `KPLRecordWriter`.

    Returns
    -------
    list of str
        The files. They get their names when all of them are whole; of a process that is killed, what was written stays
        as "name-00003-of-00010.kpl.part", in which all whole records are found.

    """
    global _job
    for name, value, least in (("workers", workers, 0), ("shards", shards, 1)):
        if value is not None and (not isinstance(value, int) or value < least):
            raise ValueError(f"write_parallel: got {name}={value!r}, expected a number from {least}")
    if not hasattr(samples, "__len__") or not hasattr(samples, "__getitem__"):
        samples = list(samples)
    shards = shards or max(workers, 1)
    names = name_shards(path, shards)
    job = functools.partial(_write_shard, samples, names, encode, compression, metadata)
    try:
        if workers:
            _job = job
            _write_by_workers(min(workers, shards), shards)
        else:
            for shard in range(shards):
                job(shard)
        for name in names:
            os.replace(name + UNFINISHED, name)
    finally:
        _job = None
        for name in names:
            if os.path.exists(name + UNFINISHED):
                os.remove(name + UNFINISHED)
    return names


UNFINISHED = ".part"


def name_shards(path, count):
    """Return the names of files: "name-00003-of-00010.kpl"."""
    stem, end = re.fullmatch(r"(.*?)((?:\.[^./]*)?)", os.fsdecode(path), re.DOTALL).groups()
    return [f"{stem}-{number:05}-of-{count:05}{end}" for number in range(count)]


def _write_by_workers(workers, shards):
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), follow_parent) as pool:
        waiting = [pool.submit(_run_job, shard) for shard in range(shards)]
        try:
            for each in waiting:
                each.result()
        except BrokenProcessPool:
            raise RuntimeError("write_parallel: got a worker that was killed, expected all to live: it may have had "
                               "too little memory") from None
        finally:
            for each in waiting:
                each.cancel()


def _run_job(shard):
    _job(shard)


def _write_shard(samples, names, encode, compression, metadata, shard):
    first, last = (len(samples) * place // len(names) for place in (shard, shard + 1))
    with KPLRecordWriter(names[shard] + UNFINISHED, compression, metadata) as writer:
        for start in range(first, last, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, last))
            items = samples.read(numbers) if hasattr(samples, "read") else [samples[number] for number in numbers]
            for item in items:
                writer.write(item if encode is None else encode(item))
