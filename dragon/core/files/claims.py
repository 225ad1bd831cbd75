"""Limits to what a file that is read may claim to hold, and files without an end."""
import errno
import os
import stat
import zipfile

SMALL_CLAIM, MOST_PACKED = 1 << 26, 100
PACKINGS = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED  # of others, zipfile unpacks more than it is asked for


def most_held(stored):
    """Return how many bytes may be packed in so few: beyond a small size, a hundred times as many."""
    return SMALL_CLAIM + stored * MOST_PACKED


def may_hold(claimed, stored):
    """Return whether so many bytes may be packed in so few.

    Parameters
    ----------
    claimed, stored : int
        How many bytes there are said to be unpacked, and how many there are.

    """
    return claimed <= most_held(stored)


def check_sizes(archive, size, error, who):
    """Raise an error for a zip archive whose members claim more than a file of its size can honestly hold.

    So it is for members that are packed otherwise than by deflate: how much they hold shows when it is unpacked.

    Parameters
    ----------
    archive : zipfile.ZipFile
        The archive.
    size : int
        How many bytes its file has.
    error : type
        The class of the error.
    who : str
        Who speaks.

    """
    members = archive.infolist()
    if sum(member.compress_size for member in members) > size:
        raise error(f"{who}: got an archive whose members overlap, or have more bytes than its file: it is damaged")
    if packed := [member.filename for member in members if member.compress_type not in PACKINGS]:
        raise error(f"{who}: got an archive whose {packed[0]!r} is packed by method "
                    f"{archive.getinfo(packed[0]).compress_type}, expected none or deflate")
    claimed = sum(member.file_size for member in members)
    if not may_hold(claimed, size):
        raise error(f"{who}: got an archive of {size} bytes that claims to hold {claimed}: it is damaged or hostile")


def read_member(archive, member):
    """Return the bytes of a member of a zip archive, unpacking no more of them than the archive's directory tells.

    Parameters
    ----------
    archive : zipfile.ZipFile
        The archive.
    member : Union[str, zipfile.ZipInfo]
        Which member.

    """
    info = archive.getinfo(member) if isinstance(member, str) else member
    with archive.open(info) as file:
        return file.read(info.file_size)  # `archive.read` unpacks all that there is, and cuts it then


def check_end(file):
    """Raise an OSError for an open file that never ends: a device such as /dev/zero, but no terminal or pipe.

    Parameters
    ----------
    file : IO
        The file; one in memory, or without a number of the system's, is taken as it is.

    """
    try:
        number = file.fileno()
        found = os.fstat(number)
    except (AttributeError, OSError, ValueError):
        return
    if stat.S_ISCHR(found.st_mode) and not os.isatty(number) and found.st_rdev != os.stat(os.devnull).st_rdev:
        raise OSError(errno.EINVAL, "Is a device without an end, expected a file", getattr(file, "name", None))


def read_whole(path):
    """Return the bytes of a file that has an end.

    Parameters
    ----------
    path : Union[str, bytes, os.PathLike]
        The file.

    """
    with open(path, "rb") as file:
        check_end(file)
        return file.read()
