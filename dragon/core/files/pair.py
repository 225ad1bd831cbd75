"""Two files of which one names the other, replaced together."""
import contextlib
import os

from dragon.core.files.whole import copy, rewriting


def replace_pair(head, data, spare, names_spare, write_head, write_data):
    """Replace two files of which one names the other, so that at every moment both are the old or both the new.

    The new data goes where the head that is there does not look; a head that names it takes the old one's place; then
    the same is done once more for the usual name.

    Parameters
    ----------
    head, data, spare : str
        The places of the file that names, of the one that is named, and of what stands in for it meanwhile.
    names_spare : Callable[[str], bool]
        Whether the head at a path names the spare.
    write_head : Callable[[file, str], None]
        Writes the head that names the data at a path.
    write_data : Callable[[file], None]
        Writes the data.

    """
    def put_head(named):
        with rewriting(head) as file:
            write_head(file, named)

    in_use = data if os.path.exists(head) and not names_spare(head) else spare
    first = spare if in_use == data and os.path.exists(data) else data
    with rewriting(first) as file:
        write_data(file)
    put_head(first)
    if first == spare:
        copy(spare, data)  # no second name for it: readers of ONNX refuse files that have two
        put_head(data)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(spare)
