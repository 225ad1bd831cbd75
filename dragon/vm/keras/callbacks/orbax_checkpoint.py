"""Checkpoints of another library, which is not here."""
from dragon.vm.keras.callbacks.monitor_callback import MonitorCallback


class OrbaxCheckpoint(MonitorCallback):
    """Say what is missing: Orbax writes the arrays of JAX, which Dragon does not have."""

    def __init__(self, directory, *args, **kwargs):
        raise NotImplementedError("keras.callbacks.OrbaxCheckpoint needs Orbax, which stores arrays of JAX; use "
                                  f"ModelCheckpoint or BackupAndRestore. Received: directory={directory!r}")
