"""`tf.config.threading`: how many threads a call may use."""
from dragon import _C as _C


def get_intra_op_parallelism_threads():
    """Return how many threads a call may use."""
    return _C.num_threads()


def set_intra_op_parallelism_threads(num_threads):
    """Set how many threads a call may use; 0 leaves it as it is."""
    if num_threads:
        _C.set_num_threads(int(num_threads))


def get_inter_op_parallelism_threads():
    """Return 1: calls run one after the other."""
    return 1


def set_inter_op_parallelism_threads(num_threads):
    """Accept a number: calls run one after the other."""
