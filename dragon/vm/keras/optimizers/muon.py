"""Muon: momentum made orthogonal for matrices, AdamW for the rest."""
import math
import re

from dragon.vm.keras.optimizers.adam import adam_rate
from dragon.vm.keras.optimizers.memory import numbers_of
from dragon.vm.keras.optimizers.rule import Rule
from dragon.vm.shared.tensors.tensor import ops


class Muon(Rule):
    """Momentum made orthogonal by Newton's and Schulz's iteration for matrices, Adam for the rest.

    Parameters
    ----------
    adam_beta_1, adam_beta_2 : float, optional
        What shares of moments Adam keeps: 0.9 and 0.999.
    adam_weight_decay : Optional[float], optional, default=0.004
        Weight decay of what Adam updates.
    epsilon : float, optional, default=1e-7
        What keeps Adam's divisor from zero.
    weight_decay : Optional[float], optional, default=0.004
        Weight decay of the others.
    exclude_layers : Optional[Sequence[str]], optional
        Patterns of paths that Adam updates.
    exclude_embeddings : bool, optional, default=True
        Adam updates what has "embedding" in its path.
    muon_a, muon_b, muon_c : float, optional
        Coefficients of the iteration.
    adam_lr_ratio : float, optional, default=1
        Adam's rate over the rate.
    momentum : float, optional, default=0.95
        What share of the momentum is kept.
    ns_steps : int, optional, default=5
        How often the iteration is done.
    rms_rate : Optional[float], optional, default=0.2
        The size of changes, over the rate; none leaves them as they are.
    **named
        What all optimizers have, see `Optimizer`.

    """

    _looks_at_wholes = True

    _arguments = ("adam_beta_1 adam_beta_2 epsilon exclude_layers muon_a muon_b muon_c adam_lr_ratio momentum ns_steps "
                  "nesterov exclude_embeddings ...")

    def __init__(self, learning_rate=0.001, adam_beta_1=0.9, adam_beta_2=0.999, adam_weight_decay=0.004, epsilon=1e-7,
                 weight_decay=0.004, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False,
                 ema_momentum=0.99, ema_overwrite_frequency=None, loss_scale_factor=None,
                 gradient_accumulation_steps=None, name=None, exclude_layers=None, exclude_embeddings=True,
                 muon_a=3.4445, muon_b=-4.775, muon_c=2.0315, adam_lr_ratio=1, momentum=0.95, ns_steps=5,
                 nesterov=True, rms_rate=0.2, **kwargs):
        super().__init__(learning_rate, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
                         ema_overwrite_frequency, loss_scale_factor, gradient_accumulation_steps, name, **kwargs)
        self.adam_beta_1, self.adam_beta_2, self.adam_weight_decay = adam_beta_1, adam_beta_2, adam_weight_decay
        self.epsilon, self.adam_lr_ratio = epsilon, adam_lr_ratio
        self.muon_a, self.muon_b, self.muon_c, self.ns_steps = muon_a, muon_b, muon_c, ns_steps
        self.momentum, self.nesterov, self.rms_rate = momentum, nesterov, rms_rate
        self.exclude_embeddings, self.exclude_layers = exclude_embeddings, exclude_layers or []

    def _should_use_adamw(self, variable):
        path = self._path(variable)
        return (len(variable.shape) != 2 or (self.exclude_embeddings and "embedding" in path.lower())
                or any(re.search(pattern, path) for pattern in self.exclude_layers))

    def _add_states(self, variables):
        momentums, velocities = [], []
        for variable in variables:
            skipped = getattr(variable, "overwrite_with_gradient", False)
            momentums.append(None if skipped else self.add_variable_from_reference(variable, "momentum"))
            velocities.append(self.add_variable_from_reference(variable, "velocity")
                              if not skipped and self._should_use_adamw(variable) else None)
        self.momentums, self.adam_velocities = momentums, velocities

    def _decay_of(self, variable):
        if not self._use_weight_decay(variable):
            return None
        return self.adam_weight_decay if self._should_use_adamw(variable) else self.weight_decay

    def _numbers(self, rate, dtype):
        return rate, adam_rate(rate * self.adam_lr_ratio, self._step(dtype), self.adam_beta_1, self.adam_beta_2)

    def _change(self, gradient, variable, value, index, rate, adam):
        kept, velocity = self.momentums[index], self.adam_velocities[index]
        if velocity is not None:
            mean = self._move(kept, gradient, 1 - self.adam_beta_1)
            square = self._move(velocity, ops.square(gradient), 1 - self.adam_beta_2)
            self._put(variable, value - mean * adam / (ops.sqrt(square) + self.epsilon))
            return
        momentum = numbers_of(kept) * self.momentum + gradient
        self._put(kept, momentum)
        ahead = gradient + self.momentum * momentum if self.nesterov else momentum
        change = rate * self.zeropower_via_newtonschulz5(ahead, self.ns_steps)
        self._put(variable, value - self.lr_adjust(change))

    def lr_adjust(self, x):
        """Return a change of a matrix of the size that Adam's would have."""
        return x if self.rms_rate is None else x * (math.sqrt(max(x.shape[0], x.shape[1])) * self.rms_rate)

    def transpose_last_axis(self, X):
        """Return matrices with rows and columns swapped."""
        return ops.transpose(X, -1, -2)

    def zeropower_via_newtonschulz5(self, x, steps):
        """Return the nearest matrix with singular values near one.

        Parameters
        ----------
        x : Tensor
            Matrices.
        steps : int
            How often to iterate.

        """
        if len(x.shape) < 2:
            raise ValueError("Expected gradient or momentum to have at least 2 dimensions. "
                             f"Received: shape={tuple(x.shape)}")
        tall = x.shape[-2] > x.shape[-1]
        x = self.transpose_last_axis(x) if tall else x
        x = x / (ops.sqrt(ops.sum(ops.square(x), axis=(-2, -1), keepdims=True)) + 1e-7)
        for _ in range(steps):
            square = ops.matmul(x, self.transpose_last_axis(x))
            x = self.muon_a * x + ops.matmul(self.muon_b * square + ops.matmul(self.muon_c * square, square), x)
        return self.transpose_last_axis(x) if tall else x
