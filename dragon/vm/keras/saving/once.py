"""Files that one of several processes writes, whole or not at all."""
import functools
import os
import shutil
import tempfile

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
    folder, name = os.path.split(os.path.abspath(path))
    overwrite = kwargs.get("overwrite", args[0] if args else True)
    if not overwrite and os.path.exists(path):
        raise ValueError(f"save: got the file {path!r}, which exists, and overwrite=False, expected another one: "
                         "several processes ask nobody")
    own = tempfile.mkdtemp(prefix=f".{name}.", dir=folder)
    try:
        with strategies.unwatched():  # what is made meanwhile is this process's alone
            write(model, os.path.join(own, name), *args, **kwargs)
        for made in sorted(os.listdir(own), key=lambda made: made == name):  # what names the others comes last
            target = os.path.join(folder, made)
            if os.path.isdir(target) and not os.path.islink(target):
                shutil.rmtree(target)
            os.replace(os.path.join(own, made), target)
    finally:
        shutil.rmtree(own, ignore_errors=True)
