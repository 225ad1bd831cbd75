"""`tf.debugging`: claims about tensors, and how errors are shown."""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.shared.tensors.placing import default_device as _default_device
from dragon.vm.tensorflow.core.flow.asserts import (  # noqa: F401
    Assert, assert_all_finite, assert_equal, assert_greater, assert_greater_equal, assert_integer, assert_less,
    assert_less_equal, assert_near, assert_negative, assert_non_negative, assert_non_positive, assert_none_equal,
    assert_positive, assert_proper_iterable, assert_rank, assert_rank_at_least, assert_rank_in,
    assert_same_float_dtype, assert_scalar, assert_shapes, assert_type, check_numerics, is_numeric_tensor)

__getattr__, __dir__ = _lookup(globals(), {
    "dragon.vm.keras.core.traceback": "enable_traceback_filtering disable_traceback_filtering "
                                      "is_traceback_filtering_enabled"})


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """Have backward passes name the line behind an undefined gradient."""
    from dragon.core import modes
    modes.set_anomaly_mode(True, True)


def disable_check_numerics():
    """Undo `enable_check_numerics`."""
    from dragon.core import modes
    modes.set_anomaly_mode(False, False)


_is_placement_logged = [False]


def get_log_device_placement():
    """Return whether the program wants to see where calls run."""
    return _is_placement_logged[0]


def set_log_device_placement(enabled):
    """Log where calls run: once, since each runs where its operands are.

    Parameters
    ----------
    enabled : bool
        Whether it is logged.

    """
    _is_placement_logged[0] = bool(enabled)
    if enabled:
        from dragon.vm.tensorflow.core.flow.execution import get_logger
        get_logger().warning("tf.debugging.set_log_device_placement: calls are not logged one by one; each runs on the "
                             "device of its operands, which `tensor.device` tells, and new tensors are on %s",
                             _default_device())
