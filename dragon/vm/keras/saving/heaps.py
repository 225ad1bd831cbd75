"""HDF5's heaps of strings, walked before its library does: where a damaged object has no size, that walks for ever."""
import mmap
import struct

SIGNATURE = b"GCOL\x01\0\0\0"
HEADER = struct.Struct("<HHIQ")  # an object's index, its references, nothing, its size


def has_whole_heaps(data):
    """Return whether the objects of each heap in a file follow each other to its end.

    Parameters
    ----------
    data : Union[bytes, mmap.mmap]
        The file's content.

    Returns
    -------
    bool
        Whether they do.

    """
    heap = data.find(SIGNATURE)
    while heap >= 0:
        place = heap + len(SIGNATURE) + 8
        if place > len(data):
            return False
        end = heap + int.from_bytes(data[place - 8:place], "little")
        if end > len(data):
            return False
        while place + HEADER.size <= end:
            index, _, _, size = HEADER.unpack(data[place:place + HEADER.size])
            step = HEADER.size + (size + 7) // 8 * 8 if index else size  # free room counts its header
            if step < HEADER.size or place + step > end:
                return False
            place += step
        heap = data.find(SIGNATURE, heap + 1)
    return True


def check_heaps(target):
    """Raise an OSError, as the library does for other damage, if a heap in a file is damaged.

    Parameters
    ----------
    target : Union[str, bytes, os.PathLike, io.IOBase]
        The file, or one that can be read.

    """
    if hasattr(target, "read"):
        place = target.tell()
        target.seek(0)
        whole = has_whole_heaps(target.getvalue() if hasattr(target, "getvalue") else target.read())
        target.seek(place)
    else:
        with open(target, "rb") as file:
            try:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except (ValueError, OSError):  # nothing to map: the library says what is wrong
                return
            with content:
                whole = has_whole_heaps(content)
    if not whole:
        raise OSError("the objects of a heap in it do not follow each other")
