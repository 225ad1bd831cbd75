"""Files whose names their writer makes, replaced whole one after another."""
import contextlib
import os

from dragon.core.files.folder import put_folder
from dragon.core.files.leftovers import name_beside, remove, sweep_at_save
from dragon.core.files.whole import FORBIDDEN, move


@contextlib.contextmanager
def replacing_group(path):
    """Give a path in an empty folder; whatever is written there takes its place beside `path` at the end of the block.

    It has the name of `path`, for writers that tell the format by it, and those that write further files beside it,
    whose names they make of it. Each is replaced whole, that of `path`, which names the others, at the end. If the
    block raises, all that is there stays.

    Parameters
    ----------
    path : Union[str, bytes, os.PathLike]
        The place.

    """
    folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    sweep_at_save(folder)
    own = name_beside(os.path.join(folder, name))
    try:
        os.mkdir(own, 0o700)
    except OSError as error:
        if error.errno in FORBIDDEN and os.path.isfile(path):
            yield os.fsdecode(path)
            return
        raise OSError(error.errno, error.strerror, os.fsdecode(path)) from None
    try:
        yield os.path.join(own, name)
        for made in sorted(os.listdir(own), key=lambda made: made == name):
            place, target = os.path.join(own, made), os.path.join(folder, made)
            if os.path.isdir(place):
                put_folder(place, os.path.realpath(target), None)
            else:
                move(place, target)
    finally:
        remove(own)
