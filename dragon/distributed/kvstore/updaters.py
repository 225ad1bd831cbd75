"""Optimizers where the values are: what is pushed goes to them, and they change the values."""
import pickle

from dragon.distributed.kvstore.rows import Rows


class Updater:
    """Call an optimizer with the gradients of one key after the other.

    Parameters
    ----------
    optimizer : Any
        An object with `create_state(key, weight)` and `update(key, weight, gradient, state)`; or a function that
        returns an optimizer of `dragon.optimizers` for a list of tensors, such as `functools.partial(Adam, lr=0.1)`.

    """

    def __init__(self, optimizer):
        self.optimizer, self.states = optimizer, {}
        self._by_key = hasattr(optimizer, "update") and hasattr(optimizer, "create_state")
        if not self._by_key and not callable(optimizer):
            raise TypeError(f"set_optimizer: got {type(optimizer).__name__}, expected an object with create_state and "
                            "update, or a function that makes an optimizer for tensors")

    def __call__(self, key, gradient, stored):
        """Update a value."""
        if self._by_key:
            if key not in self.states:
                self.states[key] = self.optimizer.create_state(key, stored)
            self.optimizer.update(key, stored, gradient, self.states[key])
            return
        optimizer = self.states.get(key)
        if optimizer is None or isinstance(optimizer, dict):  # a dictionary is what came from a file
            optimizer = self._made(key, stored)
        stored.grad = gradient.whole(stored) if isinstance(gradient, Rows) else gradient
        optimizer.step()
        stored.grad = None

    def _made(self, key, stored):
        remembered = self.states.get(key)
        optimizer = self.states[key] = self.optimizer([stored])
        if remembered is not None:
            optimizer.load_state_dict(remembered)
        return optimizer

    def get_states(self, dump_optimizer=False):
        """Return what is remembered of all keys, as bytes; with the optimizer itself if wanted."""
        states = {key: state.state_dict() if hasattr(state, "state_dict") else state
                  for key, state in self.states.items()}
        return pickle.dumps((states, self.optimizer if dump_optimizer else None))

    def set_states(self, data):
        """Go on with what bytes remember."""
        self.states, optimizer = pickle.loads(data)
        if optimizer is not None:
            self.optimizer = optimizer


def dump_optimizer(optimizer):
    """Return an optimizer as bytes for another process."""
    try:
        return pickle.dumps(optimizer)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"set_optimizer: got {optimizer!r}, which cannot be sent to the other processes ({error}), "
                        "expected an object that pickle can write; a lambda is none") from None
