"""Where data sets come from, and arrays of objects read without executing anything."""
import pickle

from dragon.vm.keras.utils.downloads import get_file

BASE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
# What pickles of arrays name, in several versions of NumPy; nothing else is looked up.
ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"), ("numpy", "ndarray"),
    ("numpy", "dtype"),
}


class ArrayUnpickler(pickle.Unpickler):
    """Read arrays, lists and dicts; refuse whatever else a pickle names."""

    def find_class(self, module, name):
        """Return what a pickle names, if it belongs to arrays."""
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"Refusing to read `{module}.{name}`: a data set may hold arrays only.")
        if name == "_reconstruct":  # where it lives depends on NumPy's version
            import numpy as np
            return np.empty(0).__reduce__()[0]
        return super().find_class(module, name)


def fetch(name, file_hash, address=None, **options):
    """Return the path of a data set's file."""
    return get_file(fname=name, origin=address or BASE + name, file_hash=file_hash, **options)


def load_objects(path):
    """Return the arrays of an `.npz` file, those of objects as well."""
    import zipfile

    import numpy as np
    made = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as file:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else (
                    np.lib.format.read_array_header_2_0)
                shape, fortran, dtype = read(file)
                if dtype.hasobject:
                    array = ArrayUnpickler(file).load()
                else:
                    order = "F" if fortran else "C"
                    array = np.frombuffer(file.read(), dtype=dtype).reshape(shape, order=order).copy()
            made[name.removesuffix(".npy")] = array
    return made


def mixed(seed, *arrays):
    """Return arrays in one random order."""
    import numpy as np
    order = np.arange(len(arrays[0]))
    np.random.RandomState(seed).shuffle(order)
    return [array[order] for array in arrays]


def load_table(name, file_hash, test_split):
    """Return the columns x and y of a table."""
    import numpy as np
    if not 0 <= test_split < 1:
        raise ValueError("Invalid `test_split` argument: it must be between 0 and 1 (exclusive of 1). "
                         f"Received: test_split={test_split}")
    with np.load(fetch(name, file_hash), allow_pickle=False) as file:
        return file["x"], file["y"]


def cut(x, y, test_split, seed):
    """Return rows in random order, the last ones for tests."""
    x, y = mixed(seed, x, y)
    end = int(len(x) * (1 - test_split))
    return (x[:end], y[:end]), (x[end:], y[end:])
