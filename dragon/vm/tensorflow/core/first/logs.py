"""`tf.compat.v1.logging`: lines of the logger of TensorFlow's name."""
import itertools
import logging as _logging
import threading

from dragon.vm.tensorflow.core.flow.execution import get_logger

DEBUG, ERROR, FATAL, INFO, WARN = _logging.DEBUG, _logging.ERROR, _logging.FATAL, _logging.INFO, _logging.WARN
_counts, _lock = {}, threading.Lock()


def log(level, msg, *args, **kwargs):
    """Write a line of a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg, *args, **kwargs):
    """Write a line for whoever looks for a mistake."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    """Write a line."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    """Write a warning."""
    get_logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg, *args, **kwargs):
    """Write that something failed."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg, *args, **kwargs):
    """Write that nothing goes on."""
    get_logger().critical(msg, *args, **kwargs)


def TaskLevelStatusMessage(msg):
    """Write what became of a task."""
    error(msg)


def flush():
    """Have all lines written."""
    for handler in get_logger().handlers:
        handler.flush()


def vlog(level, msg, *args, **kwargs):
    """Write a line of a level; see `log`."""
    log(level, msg, *args, **kwargs)


def log_if(level, msg, condition, *args):
    """Write a line where a condition holds."""
    if condition:
        log(level, msg, *args)


def _count(msg):
    """Return how often a message was counted before."""
    with _lock:
        return next(_counts.setdefault(msg, itertools.count()))


def log_every_n(level, msg, n, *args):
    """Write each n-th line of a message, the first one included."""
    log_if(level, msg, not _count(msg) % n, *args)


def log_first_n(level, msg, n, *args):
    """Write the first n lines of a message."""
    log_if(level, msg, _count(msg) < n, *args)


def get_verbosity():
    """Return from which level on lines are written."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v):
    """Say from which level on lines are written: a number, or the name of one."""
    get_logger().setLevel(v)
