"""What libraries ask of Keras's backend, and of its helpers, besides public functions."""
from dragon.core.capture.settings import is_capturing
from dragon.vm.keras.core import config

IS_THREAD_SAFE = True
SUPPORTS_COMPLEX_DTYPES = True
SUPPORTS_RAGGED_TENSORS = True
SUPPORTS_SPARSE_TENSORS = True
removeprefix, removesuffix = str.removeprefix, str.removesuffix


class DynamicBackend:
    """Keras's functions by the files of its source (`numpy`, `image`, `random`); there is one backend.

    Parameters
    ----------
    backend : Optional[str], optional
        The backend's name.

    """

    def __init__(self, backend=None):
        self.reset()
        if backend is not None:
            self.set_backend(backend)

    name = property(lambda self: self._backend, doc="The backend's name.")

    def set_backend(self, backend):
        """Take the backend that there is; refuse others."""
        if backend != self._backend:
            raise ValueError(f"DynamicBackend: got backend={backend!r}, expected {self._backend!r}: Keras has one "
                             "backend here")

    def reset(self):
        """Take the backend that there is."""
        self._backend = config.backend()

    def __getattr__(self, name):
        import importlib
        if name.startswith("__"):
            raise AttributeError(f"DynamicBackend has no attribute '{name}'", name=name)
        return getattr(importlib.import_module("dragon.vm.keras.src.backend.tensorflow"), name)


def random_seed_dtype():
    """Return the dtype that seeds have."""
    return "int64"


def in_tf_graph():
    """Return whether a function is being traced."""
    return is_capturing()


def convert_tf_tensor(outputs, dtype=None):
    """Return tensors as they are: there is one kind of them. ..."""
    return outputs


def is_continuous_axis(axis):
    """Return whether axes follow each other, forwards or backwards."""
    if isinstance(axis, int) or len(axis) <= 1:
        return True
    steps = {after - before for before, after in zip(axis, axis[1:])}
    return steps in ({1}, {-1})


def to_list(x):
    """Return a list as it is, and anything else in one."""
    return x if isinstance(x, list) else [x]


def remove_long_seq(maxlen, seq, label):
    """Return the sequences shorter than a length, and their labels."""
    kept = [(one, its_label) for one, its_label in zip(seq, label) if len(one) < maxlen]
    return [one for one, _ in kept], [its_label for _, its_label in kept]


def remove_by_id(lst, value):
    """Remove the first item of a list that is a value itself."""
    for place, one in enumerate(lst):
        if one is value:
            del lst[place]
            return
