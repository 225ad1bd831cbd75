"""Archives unpacked: what would lie outside of the folder that they are unpacked to is left out, with a warning."""
import os
import shutil
import tarfile
import zipfile

from dragon.core import warnings
from dragon.core.scopes import contextmanager
from dragon.vm.keras.utils.file_system import path_to_string, resolve_path, resolve_sub_path

_KINDS = {"tar": (tarfile.is_tarfile, tarfile.open), "zip": (zipfile.is_zipfile, zipfile.ZipFile)}


def is_link_in_dir(info, base_dir):
    """Return whether a link of an archive, and what it leads to, lie within a folder."""
    place = resolve_sub_path(base_dir, info.name)
    if info.islnk():  # told from the archive's root; a symbolic link, from where it lies
        return place is not None and resolve_sub_path(base_dir, info.linkname) is not None
    if place is None:
        return False
    target = resolve_path(os.path.join(os.path.dirname(place), info.linkname))
    return os.path.commonpath([target, base_dir]) == base_dir


def filter_safe_zipinfos(members, base_dir):
    """Yield the members of a zip archive that lie within a folder."""
    yield from _filter(members, base_dir, "filename", lambda info, folder: False)


def filter_safe_tarinfos(members, base_dir):
    """Yield the members of a tar archive that lie, and lead, within a folder."""
    yield from _filter(members, base_dir, "name", lambda info, folder: info.issym() or info.islnk())


def _filter(members, base_dir, name_of, is_link):
    folder = resolve_path(base_dir)
    for info in members:
        name = getattr(info, name_of)
        within = is_link_in_dir(info, folder) if is_link(info, folder) else resolve_sub_path(folder, name) is not None
        if within:
            yield info
        else:
            warnings.warn(f"Skipping invalid path during archive extraction: '{name}'.")


def extract_open_archive(archive, path="."):
    """Unpack an open archive into a folder.

    Parameters
    ----------
    archive : Union[tarfile.TarFile, zipfile.ZipFile]
        The archive.
    path : str, optional, default="."
        The folder.

    """
    if isinstance(archive, zipfile.ZipFile):
        archive.extractall(path, members=filter_safe_zipinfos(archive.infolist(), path))
    else:
        archive.extractall(path, members=filter_safe_tarinfos(archive, path), filter="data")


def extract_archive(file_path, path=".", archive_format="auto"):
    """Unpack a file into a folder if it is an archive of one of some formats, and return whether it was.

    Parameters
    ----------
    file_path : str
        The file.
    path : str, optional, default="."
        The folder.
    archive_format : Union[str, Sequence[str]], optional, default="auto"
        "tar", "zip" or several, "auto" for both; none for None.

    Returns
    -------
    bool
        Whether something was unpacked.

    """
    formats = list(_KINDS) if archive_format == "auto" else (
        [archive_format] if isinstance(archive_format, str) else archive_format or ())
    file_path, path = path_to_string(file_path), path_to_string(path)
    for kind in formats:
        if kind not in _KINDS:
            raise NotImplementedError(f"extract_archive: got archive_format={kind!r}, expected one of {sorted(_KINDS)}")
        is_archive, open_archive = _KINDS[kind]
        if is_archive(file_path):
            with open_archive(file_path) as archive, _removed_on_failure(path):
                extract_open_archive(archive, path)
            return True
    return False


@contextmanager
def _removed_on_failure(path):
    """Leave no folder that is half unpacked; one that was there before stays, for it may hold other files."""
    was_there = os.path.lexists(path)
    try:
        yield
    except BaseException:
        if not was_there:
            shutil.rmtree(path, ignore_errors=True)
        raise
