"""Objects that give their state and take it back."""
from typing import Protocol, TypeVar, runtime_checkable


@runtime_checkable
class Stateful(Protocol):
    """What has `state_dict()` and `load_state_dict(state_dict)`: models, optimizers, loaders, schedules."""

    def state_dict(self):
        """Return the state. It is asked for when loading too, for the places of its tensors."""

    def load_state_dict(self, state_dict):
        """Take a state back."""


StatefulT = TypeVar("StatefulT", bound=Stateful)
