"""Normalization over each instance."""

from dragon.core import warnings
from dragon.vm.torch.nn import functional as F
from dragon.vm.torch.nn.modules.batchnorm import _NormBase, make_lazy, require_axes
from dragon.vm.torch.nn.modules.utils import factory


class _InstanceNorm(_NormBase):
    """The base of all instance normalizations.

    Parameters
    ----------
    num_features, eps, momentum, device, dtype, bias
        See `_BatchNorm`.
    affine : bool, optional, default=False
        Have weight and bias.
    track_running_stats : bool, optional, default=False
        Keep running statistics, for evaluation.

    """

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None,
                 dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, **factory(device, dtype), bias=bias)

    def _get_no_batch_dim(self):
        """Return how many axes an input without a batch has."""
        raise NotImplementedError(f"{type(self).__name__}: got no _get_no_batch_dim, expected a class that defines it")

    def _check_input_dim(self, input):
        require_axes(input, self._get_no_batch_dim(), self._get_no_batch_dim() + 1)

    def _handle_no_batch_input(self, input):
        return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)

    def _apply_instance_norm(self, input):
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats,
                               self.momentum if self.momentum is not None else 0.0, self.eps)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            # The first version kept statistics whether they were wanted or not.
            stale = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if stale:
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {' and '.join(map(repr, stale))} for {type(self).__name__} "
                    "with track_running_stats=False: the file may be older than 0.4.0; remove these keys, or set "
                    "track_running_stats=True")
                for key in stale:
                    state_dict.pop(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)

    def forward(self, input):
        """Return the input, normalized."""
        self._check_input_dim(input)
        axis = input.dim() - self._get_no_batch_dim()
        if input.shape[axis] != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={axis} to match num_features ({self.num_features}), "
                                 f"but got: {input.shape[axis]}.")
            warnings.warn(f"input's size at dim={axis} does not match num_features. You can silence this warning by "
                          "not passing in num_features, which is not used because affine=False")
        return self._handle_no_batch_input(input) if axis == 0 else self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    """Normalize `(N, C, L)` or `(C, L)` over its length; see `_InstanceNorm` for the parameters."""

    def _get_no_batch_dim(self):
        return 2


class InstanceNorm2d(_InstanceNorm):
    """Normalize `(N, C, H, W)` or `(C, H, W)` over its plane. ...

    Examples
    --------
    >>> nn.InstanceNorm2d(3)(torch.zeros(8, 3, 4, 4)).shape
    torch.Size([8, 3, 4, 4])

    """

    def _get_no_batch_dim(self):
        return 3


class InstanceNorm3d(_InstanceNorm):
    """Normalize `(N, C, D, H, W)` or `(C, D, H, W)` over its volume; see `_InstanceNorm` for the parameters."""

    def _get_no_batch_dim(self):
        return 4


LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = make_lazy(
    InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, check="_get_no_batch_dim")
