"""Files from elsewhere, kept in a folder of their own."""
import hashlib
import os
import pathlib

from dragon.core import files, warnings
from dragon.core.progress import length_of
from dragon.vm.keras.utils.progbar import Progbar


def _cache_folder(cache_dir, cache_subdir):
    base = cache_dir or os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    folder = os.path.join(os.path.expanduser(base), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    return folder


def hash_file(path, algorithm="sha256"):
    """Return the checksum of a file, in hexadecimal letters."""
    hasher = hashlib.md5() if algorithm == "md5" else hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 16):
            hasher.update(chunk)
    return hasher.hexdigest()


def validate_file(path, file_hash, algorithm="auto"):
    """Return whether a file has a checksum."""
    if algorithm == "auto":
        algorithm = "sha256" if len(file_hash) == 64 else "md5"
    return hash_file(path, algorithm) == str(file_hash)


def get_file(fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets",
             hash_algorithm="auto", extract=False, archive_format="auto", cache_dir=None, force_download=False):
    """Return the path of a file; it is fetched if it is not there yet.

    Parameters
    ----------
    fname : str, optional
        The name of the file; that of the address by default.
    origin : str
        The address.
    untar : bool, optional, default=False
        An older word for `extract`.
    md5_hash, file_hash : str, optional
        The checksum it must have.
    cache_subdir : str, optional, default="datasets"
        The folder within the cache.
    hash_algorithm : str, optional, default="auto"
        "md5", "sha256", or what the length of the checksum tells.
    extract : bool, optional, default=False
        Whether it is an archive to be unpacked.
    archive_format : Union[str, Sequence[str]], optional, default="auto"
        "tar", "zip", or what the file is.
    cache_dir : str, optional
        The cache; `~/.keras` by default.
    force_download : bool, optional, default=False
        Fetch it even if it is there.

    Returns
    -------
    str
        The file, or the folder that the archive was unpacked to.

    """
    if origin is None:
        raise ValueError(f"Please specify the \"origin\" argument (URL of the file to download). Received: {origin}")
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    fname = str(fname) if isinstance(fname, pathlib.Path) else fname
    fname = fname or os.path.basename(str(origin).split("?")[0])
    if not fname:
        raise ValueError(f"Can't parse the file name from the origin provided. Received: origin={origin}")
    target = os.path.join(_cache_folder(cache_dir, cache_subdir), os.path.basename(fname))
    kept = os.path.exists(target) and not force_download
    if kept and file_hash is not None and not validate_file(target, file_hash, hash_algorithm):
        warnings.warn("A local file was found, but it seems to be incomplete or outdated because its hash differs. "
                      f"It is fetched again: {target}")
        kept = False
    if not kept:
        _fetch(str(origin), target)
        if file_hash is not None and not validate_file(target, file_hash, hash_algorithm):
            os.remove(target)
            raise ValueError(f"Incomplete or corrupted file detected. Expected hash {file_hash}. "
                             f"Received: another one from {origin}")
    return _unpack(target, archive_format) if extract or untar else target


def _fetch(origin, target):
    from urllib.error import HTTPError, URLError
    from urllib.request import urlopen

    from dragon.vm.keras.core.messages import print_msg
    print_msg(f"Downloading data from {origin}")
    try:
        with urlopen(origin) as source, files.rewriting(target) as file:
            _copy(source, file)
    except HTTPError as error:
        raise Exception(f"URL fetch failure on {origin}: {error.code} -- {error.msg}") from error
    except URLError as error:
        raise Exception(f"URL fetch failure on {origin}: {error.errno} -- {error.reason}") from error


def _copy(source, file):
    """Copy what comes from the network, with the bar that Keras's users know."""
    bar, done = Progbar(length_of(source)), 0
    while chunk := source.read(1 << 16):
        file.write(chunk)
        done += len(chunk)
        bar.update(done, finalize=False)
    if done:
        bar.update(done, finalize=True)


def _unpack(path, archive_format):
    """Unpack an archive beside it, into a folder of its name; members may not leave it."""
    import tarfile
    import zipfile
    folder = path + "_extracted"
    if os.path.exists(folder):
        return folder
    formats = ("tar", "zip") if archive_format == "auto" else (
        [archive_format] if isinstance(archive_format, str) else archive_format or ())
    for kind in formats:
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
            return folder
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
            return folder
    raise ValueError(f"The file is no archive of these formats: {tuple(formats)}. Received: {path}")
