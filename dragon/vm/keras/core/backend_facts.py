"""What libraries ask of Keras's backend, and of its helpers, besides public functions."""
from dragon.core.capture.settings import is_capturing

IS_THREAD_SAFE = True
SUPPORTS_COMPLEX_DTYPES = True
SUPPORTS_RAGGED_TENSORS = True
SUPPORTS_SPARSE_TENSORS = False
removeprefix, removesuffix = str.removeprefix, str.removesuffix


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
