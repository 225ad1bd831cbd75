"""The layer that says which steps are padding."""
from dragon.vm.keras.core.masking import set_keras_mask
from dragon.vm.keras.core.registry import deserialize
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.shared.tensors.tensor import ops


class Masking(Layer):
    """Mask, and set to zero, the steps all of whose numbers equal a value.

    Parameters
    ----------
    mask_value : float, optional, default=0.0
        The value that stands for padding.

    """

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        if isinstance(mask_value, dict) and mask_value.get("config"):
            mask_value = deserialize(mask_value)
        self.mask_value = mask_value
        self.supports_masking = True
        self._build_at_init()

    def compute_mask(self, inputs, mask=None):
        """Return which steps are there."""
        from dragon.vm.keras.ops import any, not_equal
        return any(not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs):
        from dragon.vm.keras.ops import where
        mask = self.compute_mask(inputs)
        made = where(ops.unsqueeze(mask, -1), inputs, 0)
        set_keras_mask(made, mask)
        return made

    def compute_output_shape(self, input_shape):
        return input_shape
