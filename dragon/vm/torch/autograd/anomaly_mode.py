"""Looking for the forward call behind a failing or NaN gradient."""

from dragon.core import warnings
from dragon.core import modes
from dragon.core.scopes import Scope

_state = {"check_nan": True}


class set_detect_anomaly(Scope):
    """Look for faults in backward passes or not, from now on; as a `with` block, only within.

    Parameters
    ----------
    mode : bool
        Whether to remember where forward calls stood, and name that place when a gradient fails.
    check_nan : bool, optional, default=True
        Whether a NaN in a gradient is an error.

    """

    def __init__(self, mode, check_nan=True):
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = _state["check_nan"]
        set_anomaly_enabled(mode, check_nan)

    def _enter_scope(self, exits):
        """Look on; what was before the object was made comes back at the end."""
        exits.callback(set_anomaly_enabled, self.prev, self.prev_check_nan)


class detect_anomaly(Scope):
    """Look for faults in backward passes within a `with` block. Slow.

    Parameters
    ----------
    check_nan : bool, optional, default=True
        Whether a NaN in a gradient is an error.

    """

    def __init__(self, check_nan=True):
        self.check_nan = check_nan
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = _state["check_nan"]
        warnings.warn("Anomaly Detection has been enabled. It makes programs slow and is meant for debugging.")

    def _enter_scope(self, exits):
        """Look for faults from now on."""
        exits.callback(set_anomaly_enabled, self.prev, self.prev_check_nan)
        set_anomaly_enabled(True, self.check_nan)


def is_anomaly_enabled():
    """Return whether anomaly mode is on."""
    return modes.anomaly_mode()


def is_anomaly_check_nan_enabled():
    """Return whether a NaN in a gradient would be an error in anomaly mode."""
    return _state["check_nan"]


def set_anomaly_enabled(mode, check_nan=True):
    """Switch anomaly mode."""
    _state["check_nan"] = check_nan
    modes.set_anomaly_mode(mode, check_nan)
