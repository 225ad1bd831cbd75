"""Stop where the loss is no number."""
import math

from dragon.vm.keras.callbacks.callback import Callback
from dragon.vm.keras.core.messages import print_msg


class TerminateOnNaN(Callback):
    """Stop training when the loss is NaN or infinite.

    Parameters
    ----------
    raise_error : bool, optional, default=False
        Whether a RuntimeError is raised instead.

    """

    def __init__(self, raise_error=False):
        super().__init__()
        self.raise_error = raise_error

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is None or math.isfinite(loss):
            return
        if self.raise_error:
            raise RuntimeError(f"TerminateOnNaN: NaN or Inf loss encountered at batch {batch}. Received: {loss}")
        print_msg(f"Batch {batch}: Invalid loss, terminating training")
        self.model.stop_training = True
