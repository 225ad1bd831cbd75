"""Files from elsewhere, kept in a folder of their own."""
import hashlib
import os
from urllib.parse import urlsplit

from dragon.core import files, warnings
from dragon.core.progress import length_of
from dragon.vm.keras.utils.archives import extract_archive
from dragon.vm.keras.utils.file_system import path_to_string
from dragon.vm.keras.utils.progbar import Progbar


def _cache_folder(cache_dir, cache_subdir):
    base = cache_dir or os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    folder = os.path.join(os.path.expanduser(base), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    return folder


def resolve_hasher(algorithm, file_hash=None):
    """Return what computes checksums: SHA-256 by name or where "auto" meets 64 letters, else MD5, as of old."""
    if algorithm == "sha256" or algorithm == "auto" and file_hash is not None and len(file_hash) == 64:
        return hashlib.sha256()
    return hashlib.md5()


def hash_file(fpath, algorithm="sha256", chunk_size=65535):
    """Return the checksum of a file, in hexadecimal letters."""
    hasher = resolve_hasher(algorithm) if isinstance(algorithm, str) else algorithm
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            hasher.update(chunk)
    return hasher.hexdigest()


def validate_file(fpath, file_hash, algorithm="auto", chunk_size=65535):
    """Return whether a file has a checksum."""
    return hash_file(fpath, resolve_hasher(algorithm, file_hash), chunk_size) == str(file_hash)


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
    named, fname = fname is not None, path_to_string(fname) or os.path.basename(urlsplit(str(origin)).path)
    if fname in ("", os.curdir, os.pardir):  # which would be a folder, and perhaps not one of the cache
        raise ValueError(f"Can't parse the file name from the origin provided: '{origin}'. "
                         "Please specify the `fname` argument.")
    if named and os.sep in fname:
        raise ValueError("Paths are no longer accepted as the `fname` argument. To specify the file's parent "
                         f"directory, use the `cache_dir` argument. Received: fname={fname}")
    target = folder = os.path.join(_cache_folder(cache_dir, cache_subdir), fname)
    if extract or untar:
        target, folder = _places_of_archive(target, named)
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
    if extract or untar:
        if not extract_archive(target, folder, "tar" if untar else archive_format):
            warnings.warn("Could not extract archive.")
        return folder
    return target


def _places_of_archive(path, named):
    """Return where an archive is kept and where it is unpacked to, as Keras names them."""
    folder, name = os.path.split(path)
    if named and "." in name:
        return path, os.path.join(folder, name[:name.find(".")] + "_extracted")
    return path + "_archive", path


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
