"""Libraries of compiled code: TensorFlow's are made for its own library, which is not here."""
import os

from dragon.vm.shared.errors import NotFoundError


def _refusal(who, path, instead):
    return NotImplementedError(f"{who}: got {path!r}, which is compiled for TensorFlow's own library, expected none; "
                               f"{instead}")


def load_library(library_location):
    """Raise: operators in compiled libraries are TensorFlow's own; a place where nothing is, is said to be empty.

    Parameters
    ----------
    library_location : str
        A file, or a folder of files.

    """
    if not os.path.exists(library_location):
        raise FileNotFoundError(2, "The file or folder to load kernel libraries from does not exist.", library_location)
    raise _refusal("tf.load_library", library_location, "dragon.load_library loads operators for Dragon's engine")


def load_op_library(library_filename):
    """Raise: operators in compiled libraries are TensorFlow's own; see `load_library`.

    Parameters
    ----------
    library_filename : str
        The file.

    """
    if not os.path.exists(os.fspath(library_filename)):
        raise NotFoundError(None, None, f"{library_filename}: cannot open shared object file: No such file or "
                            "directory")
    raise _refusal("tf.load_op_library", library_filename, "dragon.load_library loads operators for Dragon's engine")


def register_filesystem_plugin(plugin_location):
    """Raise: file systems in compiled libraries are TensorFlow's own.

    Parameters
    ----------
    plugin_location : str
        The file.

    """
    if not os.path.exists(plugin_location):
        raise FileNotFoundError(2, "The file to load file system plugin from does not exist.", plugin_location)
    raise _refusal("tf.experimental.register_filesystem_plugin", plugin_location, "files are those that the system has")
