"""`tf.io`: whole files."""
import glob
import os

from dragon.core import files as whole
from dragon.vm.shared import errors
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.files.system_errors import translated
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.written.texts import written


def path_of(name):
    """Return a file's name as text, whatever it came as."""
    if hasattr(name, "numpy"):
        name = name.numpy()
    return os.fsdecode(name)


@written("read_file")
def read_file(filename, name=None):
    """Return the bytes of a file as a scalar tensor of strings."""
    path = path_of(filename)
    with translated(path):
        return convert_to_tensor(whole.read_whole(path))


def write_file(filename, contents, name=None):
    """Write bytes into a file; its folder is made if there is none."""
    path, data = path_of(filename), convert_to_tensor(contents).numpy()
    if not isinstance(data, bytes):
        raise errors.InvalidArgumentError(None, None, "write_file: contents must be a scalar of dtype string. "
                                          f"Received: {contents!r}")
    with translated(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        whole.write(path, data)


def matching_files(pattern, name=None):
    """Return the sorted names of the files that match one pattern or several."""
    import numpy as np
    patterns = np.asarray(array_of(convert_to_tensor(pattern)), dtype=object).reshape(-1)
    found = sorted({os.fsencode(name) for one in patterns for name in glob.glob(os.fsdecode(one))})
    names = np.empty(len(found), object)
    names[:] = found
    return wrap_array(names)


def match_filenames_once(pattern, name=None):
    """Return the sorted names of the files that match now."""
    return matching_files(pattern)
