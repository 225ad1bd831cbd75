"""Training on a cluster of Ray's: workers that are a group, their shares of the data, checkpoints, and going on."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "trainer": "Trainer WorldConfig",
    "workers": "runtime_env",
})
