"""Paths of files, as PyTorch's own and torchvision's test suites ask for them."""
import os
import tempfile


def get_file_path(*path_components):
    """Return the path of a file beside the package."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), *path_components)


def get_file_path_2(*path_components):
    """Return a path of its parts."""
    return os.path.join(*path_components)


def get_writable_path(path):
    """Return a path, or where nothing can be written there a new folder of its name."""
    return path if os.access(path, os.W_OK) else tempfile.mkdtemp(suffix=os.path.basename(path))


def resolve_library_path(path):
    """Return a path without links."""
    return os.path.realpath(path)
