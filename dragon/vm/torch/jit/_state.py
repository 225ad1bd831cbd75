"""Whether scripting is on."""
import os

_switch = {"on": os.environ.get("PYTORCH_JIT", "1") != "0"}


def enable():
    """Let `script` compile."""
    _switch["on"] = True


def disable():
    """Let `script` return what it gets."""
    _switch["on"] = False


def is_enabled():
    """Return whether `script` compiles."""
    return _switch["on"]
