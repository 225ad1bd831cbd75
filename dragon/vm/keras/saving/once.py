"""Files that one of several processes writes, whole or not at all."""
import functools
import os

from dragon.core import files
from dragon.vm.keras.core import global_state
from dragon.vm.shared import strategies

WORKERS = "distribution_workers"


def by_one(write):
    """Have a function `write(model, filepath, ...)` be run by the first of several processes; the others wait for it.

    It writes into a folder beside the file, out of which all is moved when it is there. Variables that are cut between
    processes are put together one by one, as they are written: that takes all.
    """
    @functools.wraps(write)
    def call(model, filepath, *args, **kwargs):
        workers = global_state.get_global_attribute(WORKERS)
        if workers is None or workers.size == 1:
            return write(model, filepath, *args, **kwargs)
        from dragon.vm.keras.distribution.parts import follow, leading
        try:
            if workers.index == 0:
                with leading(model, workers):
                    _beside(write, model, os.fspath(filepath), args, kwargs)
            else:
                follow(model, workers)
        finally:
            workers.group.barrier()
        return None
    return call


def _beside(write, model, path, args, kwargs):
    overwrite = kwargs.get("overwrite", args[0] if args else True)
    if not overwrite and os.path.exists(path):
        raise ValueError(f"save: got the file {path!r}, which exists, and overwrite=False, expected another one: "
                         "several processes ask nobody")
    # What is made meanwhile is this process's alone.
    with files.replacing_group(path) as place, strategies.unwatched():
        write(model, place, *args, **kwargs)
