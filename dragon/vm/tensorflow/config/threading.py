"""`tf.config.threading`: how many threads a call may use."""
from dragon.core import config as _config


def get_intra_op_parallelism_threads():
    """Return how many threads a call may use."""
    return _config.get_num_threads()


def set_intra_op_parallelism_threads(num_threads):
    """Set how many threads a call may use; 0 leaves it as it is."""
    if num_threads:
        _config.set_num_threads(int(num_threads))


def get_inter_op_parallelism_threads():
    """Return 1: calls run one after the other."""
    return 1


def set_inter_op_parallelism_threads(num_threads):
    """Accept a number: calls run one after the other."""
