"""A penalty on what passes through."""
from dragon.vm.keras.layers.activations.elementwise import Elementwise


class ActivityRegularization(Elementwise):
    """Hand the input on, and add a penalty on it to the loss.

    Parameters
    ----------
    l1, l2 : float, optional, default=0.0
        The factors of the sums of magnitudes and of squares.

    """

    _left_out = "activity_regularizer"

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        from dragon.vm.keras.regularizers import L1L2
        super().__init__(activity_regularizer=L1L2(l1=l1, l2=l2), **kwargs)
        self.l1 = l1
        self.l2 = l2
        self._build_at_init()

    def call(self, inputs):
        return inputs
