"""Normalization of groups of channels of every sample."""
from dragon.vm.keras.core.promotion import cast_to, dtype_of
from dragon.vm.keras.layers.input_spec import InputSpec
from dragon.vm.keras.layers.normalization.scaled import Scaled, like, moved, wide
from dragon.vm.shared.tensors.tensor import ops


class GroupNormalization(Scaled):
    """Bring groups of channels of every sample to mean 0 and variance 1, then scale and shift every channel.

    Parameters
    ----------
    groups : int, optional, default=32
        How many groups the channels fall into; -1 for one each.

    """

    def __init__(self, groups=32, axis=-1, epsilon=0.001, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", beta_regularizer=None, gamma_regularizer=None, beta_constraint=None,
                 gamma_constraint=None, **kwargs):
        if not isinstance(groups, int) or groups <= 0 and groups != -1:
            raise ValueError("Received an invalid value for argument `groups`, expected a positive integer (or `-1` "
                             f"for instance normalization). Received: groups={groups}")
        super().__init__(**kwargs)
        self.prepare(axis, epsilon, center, scale, beta_initializer, gamma_initializer, beta_regularizer,
                     gamma_regularizer, beta_constraint, gamma_constraint)
        self.autocast = False
        self.groups = groups

    def build(self, input_shape):
        """Make the weights."""
        channels = input_shape[self.axis]
        if channels is None:
            raise ValueError(f"Axis {self.axis} of input tensor should have a defined dimension but the layer received "
                             f"an input with shape {input_shape}.")
        if self.groups == -1:
            self.groups = channels
        if channels < self.groups:
            raise ValueError(f"Number of groups ({self.groups}) cannot be more than the number of channels "
                             f"({channels}).")
        if channels % self.groups:
            raise ValueError(f"The number of channels must be a multiple of the number of groups ({self.groups}). "
                             f"Received: {channels} channels")
        self.input_spec = InputSpec(ndim=len(input_shape), axes={self.axis: channels})
        self.add_scale((channels,))
        self.built = True

    def call(self, inputs):
        x, axis = wide(inputs), self.axis % inputs.ndim
        made = ops.group_norm(x if axis == 1 else moved(x, axis, 1), self.groups, like(self.gamma, x),
                              like(self.beta, x), self.epsilon)
        made = cast_to(made if axis == 1 else moved(made, 1, axis), dtype_of(inputs))
        return cast_to(made, self.compute_dtype)
