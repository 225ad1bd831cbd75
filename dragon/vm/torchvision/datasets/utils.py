"""Files of data sets: checked, fetched, unpacked; pickles of arrays read without running what they say."""
import bz2
import gzip
import hashlib
import importlib
import lzma
import os
import pickle
import tarfile
import urllib.error
import urllib.request
import zipfile

import numpy

from dragon.core import files
from dragon.core.progress import Progress, length_of

USER_AGENT = "pytorch/vision"
_COMPRESSED_FILE_OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_TARS = (".tar", ".tgz", ".tbz2", ".tbz", ".tar.gz", ".tar.xz", ".tar.bz2")


def calculate_md5(fpath, chunk_size=1024 * 1024):
    """Return the MD5 sum of a file."""
    total = hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            total.update(chunk)
    return total.hexdigest()


def check_md5(fpath, md5, **kwargs):
    """Return whether a file has this MD5 sum."""
    return md5 == calculate_md5(fpath, **kwargs)


def check_integrity(fpath, md5=None):
    """Return whether a file is there and, if one is given, has this MD5 sum."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def download_url(url, root, filename=None, md5=None, max_redirect_hops=3):
    """Fetch a file into a folder unless it is there.

    Parameters
    ----------
    url : str
        Where it is.
    root : Union[str, Path]
        The folder.
    filename : str, optional
        Its name there.
    md5 : str, optional
        Its sum.
    max_redirect_hops : int, optional, default=3
        Accepted for compatibility.

    """
    root = os.path.expanduser(root)
    path = os.path.join(root, filename or os.path.basename(url))
    os.makedirs(root, exist_ok=True)
    if check_integrity(path, md5):
        return
    try:
        request = urllib.request.Request(url, headers={"User-Agent": USER_AGENT})
        with urllib.request.urlopen(request, timeout=30) as answer, files.rewriting(path) as file, Progress(
                total=length_of(answer), what=os.path.basename(path), unit="B") as line:
            while chunk := answer.read(1 << 18):
                file.write(chunk)
                line.update(len(chunk))
    except (urllib.error.URLError, OSError) as error:
        raise RuntimeError(f"download_url: could not fetch {url} ({error}); without a network put the file at "
                           f"{path}") from error
    if not check_integrity(path, md5):
        raise RuntimeError("File not found or corrupted.")


def download_file_from_google_drive(file_id, root, filename=None, md5=None):
    """Fetch a file that Google Drive knows by a number, into a folder, unless it is there."""
    url = f"https://drive.usercontent.google.com/download?id={file_id}&export=download&authuser=0&confirm=t"
    download_url(url, root, filename or file_id, md5)


def list_dir(root, prefix=False):
    """Return the folders in a folder."""
    found = [name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))]
    return [os.path.join(root, name) for name in found] if prefix else found


def list_files(root, suffix, prefix=False):
    """Return the files in a folder whose names end so."""
    found = [name for name in os.listdir(root) if os.path.isfile(os.path.join(root, name)) and name.endswith(suffix)]
    return [os.path.join(root, name) for name in found] if prefix else found


def extract_archive(from_path, to_path=None, remove_finished=False):
    """Unpack a tar or zip file into a folder, or a compressed file beside it; returns where."""
    source = os.fspath(from_path)
    to_path = os.path.dirname(source) if to_path is None else to_path
    if source.endswith(_TARS):
        with tarfile.open(source) as archive:
            archive.extractall(to_path, filter="data")
    elif source.endswith(".zip"):
        with zipfile.ZipFile(source) as archive:
            archive.extractall(to_path)
    else:
        stem, suffix = os.path.splitext(source)
        if suffix not in _COMPRESSED_FILE_OPENERS:
            raise RuntimeError(f"Unknown compression or archive type: '{suffix}'. Known suffixes are: "
                               f"'{sorted([*_COMPRESSED_FILE_OPENERS, *_TARS, '.zip'])}'.")
        to_path = os.path.join(to_path, os.path.basename(stem))
        with _COMPRESSED_FILE_OPENERS[suffix](source, "rb") as packed, files.rewriting(to_path) as file:
            while chunk := packed.read(1 << 20):
                file.write(chunk)
    if remove_finished:
        os.remove(source)
    return to_path


def download_and_extract_archive(url, download_root, extract_root=None, filename=None, md5=None,
                                 remove_finished=False):
    """Fetch an archive and unpack it."""
    download_root = os.path.expanduser(download_root)
    filename = filename or os.path.basename(url)
    download_url(url, download_root, filename, md5)
    extract_archive(os.path.join(download_root, filename), extract_root or download_root, remove_finished)


def iterable_to_str(iterable):
    """Return quoted words joined by commas."""
    return "'" + "', '".join(str(item) for item in iterable) + "'"


def verify_str_arg(value, arg=None, valid_values=None, custom_msg=None):
    """Return a string that must be one of several; raises ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"Expected type str{'' if arg is None else f' for argument {arg}'}, but got type "
                         f"{type(value)}.")
    if valid_values is not None and value not in valid_values:
        raise ValueError(custom_msg or f"Unknown value '{value}' for argument {arg}. Valid values are "
                                       f"{{{iterable_to_str(valid_values)}}}.")
    return value


def _read_pfm(file_name, slice_channels=2):
    """Return the first channels of a file of floats in PFM, float32 of shape (C, H, W)."""
    with open(file_name, "rb") as file:
        kind, sizes = file.readline().rstrip(), file.readline().split()
        if kind not in (b"PF", b"Pf"):
            raise ValueError("Invalid PFM file")
        if len(sizes) != 2 or not all(size.isdigit() for size in sizes):
            raise ValueError("Malformed PFM header.")
        scale = float(file.readline())
        values = numpy.fromfile(file, "<f4" if scale < 0 else ">f4")
    width, height = map(int, sizes)
    # The lowest row stands first.
    pixels = values.reshape(height, width, 3 if kind == b"PF" else 1).transpose(2, 0, 1)[:slice_channels, ::-1]
    return pixels.astype("float32")


# What a pickle of lists and NumPy arrays needs; NumPy renamed its modules over time.
_ALLOWED = {(f"numpy.{core}.{module}", name) for core in ("core", "_core")
            for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"),
                                 ("numeric", "_frombuffer"))}
_ALLOWED |= {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")}


class ArrayUnpickler(pickle.Unpickler):
    """Read pickles of plain values and NumPy arrays; anything else in one is refused by name."""

    def find_class(self, module, name):
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"the pickle asks for {module}.{name}; only plain values and NumPy arrays "
                                         "are read")
        return getattr(importlib.import_module(module.replace("numpy.core", "numpy._core")), name)


def load_arrays(path):
    """Return what a pickle of plain values and NumPy arrays, written under Python 2 or 3, holds."""
    with open(path, "rb") as file:
        return ArrayUnpickler(file, encoding="latin1").load()
