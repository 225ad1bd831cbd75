"""Dropout within recurrent cells: one mask for all steps of a sequence."""

from dragon.vm.keras import random
from dragon.vm.shared.tensors.tensor import ops


class DropoutRNNCell:
    """What cells with `dropout`, `recurrent_dropout` and a `seed_generator` inherit to keep masks between steps."""

    _dropout_mask = None
    _recurrent_dropout_mask = None

    def _draw_masks(self, like, rate):
        ones = ops.ones_like(like)
        count = getattr(self, "dropout_mask_count", None)
        draws = [random.dropout(ones, rate=rate, seed=self.seed_generator) for _ in range(count or 1)]
        return draws[0] if count is None else draws

    def get_dropout_mask(self, step_input):
        """Return the mask of the inputs, drawn if this sequence has none yet; a list where gates have their own."""
        if self._dropout_mask is None and self.dropout > 0:
            self._dropout_mask = self._draw_masks(step_input, self.dropout)
        return self._dropout_mask

    def get_recurrent_dropout_mask(self, step_input):
        """Return the mask of the state, drawn if this sequence has none yet; a list where gates have their own."""
        if self._recurrent_dropout_mask is None and self.recurrent_dropout > 0:
            self._recurrent_dropout_mask = self._draw_masks(step_input, self.recurrent_dropout)
        return self._recurrent_dropout_mask

    def reset_dropout_mask(self):
        """Forget the mask of the inputs, at the end of a sequence."""
        self._dropout_mask = None

    def reset_recurrent_dropout_mask(self):
        """Forget the mask of the state, at the end of a sequence."""
        self._recurrent_dropout_mask = None

    def _dropped(self, x, mask_of, rate, training, gates):
        """Return an input for each gate: the same one, unless gates have masks of their own."""
        if not (training and 0.0 < rate < 1.0):
            return [x] * gates
        masks = mask_of(x)
        return [x * mask for mask in masks] if isinstance(masks, list) else [x * masks] * gates
