"""Normalization over the batch."""
from dragon.vm.torch.core.device import as_device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn import functional as F, init
from dragon.vm.torch.nn.modules.lazy import LazyModuleMixin
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.utils import empty, factory
from dragon.vm.torch.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter


class _NormBase(Module):
    """The base of normalizations over the batch and over instances: weights and running statistics."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None,
                 dtype=None, *, bias=True):
        made = factory(device, dtype)
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_features, **made)) if wanted else None)
        names = ("running_mean", "running_var")
        if track_running_stats:
            where = as_device(device)
            for name, fill in zip(names, (ops.zeros, ops.ones)):
                self.register_buffer(name, fill((num_features,), dtype=dtype, device=where))
            self.register_buffer("num_batches_tracked", ops.zeros((), dtype=OBJECTS["int64"], device=where))
        else:
            for name in (*names, "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Set the running statistics to mean 0 and variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Set weights to one, biases to zero, and the running statistics back."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError(f"{type(self).__name__}: got no _check_input_dim, expected a class that defines it")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            # Files of the first version lack the count of batches.
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                count = self.num_batches_tracked
                known = count is not None and count.device.type != "meta"
                state_dict[key] = count if known else ops.zeros((), dtype=OBJECTS["int64"])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                                      error_msgs)


class _BatchNorm(_NormBase):
    """The base of all batch normalizations.

    Parameters
    ----------
    num_features : int
        Channels of the input.
    eps : float, optional, default=1e-05
        Added to the variance.
    momentum : Optional[float], optional, default=0.1
        Weight of the new batch in the running statistics; None means their plain average.
    affine : bool, optional, default=True
        Have weight and bias.
    track_running_stats : bool, optional, default=True
        Keep running statistics, for evaluation.
    device : Union[device, str], optional
        Where parameters and buffers live.
    dtype : dtype, optional
        Their type.
    bias : bool, optional, default=True
        Have a bias, if affine.

    """

    def forward(self, input):
        """Return the input, normalized by the statistics of the batch, or in evaluation by the running ones."""
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        buffers = self._buffers
        mean, var = buffers["running_mean"], buffers["running_var"]
        if self.training and self.track_running_stats:
            count = buffers["num_batches_tracked"]
            if count is not None:
                count.add_(1)
                if self.momentum is None:
                    momentum = 1.0 / float(count)
        from_batch = self.training or (mean is None and var is None)
        if self.training and not self.track_running_stats:
            mean = var = None
        params = self._parameters  # as in Linear: `__getattr__` is a detour
        weight = params["weight"] if "weight" in params else self.weight
        bias = params["bias"] if "bias" in params else self.bias
        return F.batch_norm(input, mean, var, weight, bias, from_batch, momentum, self.eps)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A normalization that takes `num_features` from its first input."""

    def __init__(self, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
                 bias=True):
        made = factory(device, dtype)
        # Weights and buffers are put in below: there is no number to make them of yet.
        super().__init__(0, eps, momentum, False, False, **made)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = ops.zeros((), dtype=OBJECTS["int64"], device=as_device(device))

    def reset_parameters(self):
        """Reset if the parameters have a shape."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Give parameters and buffers their shapes."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        wanted = [self.weight, self.bias] if self.affine else []
        wanted += [self.running_mean, self.running_var] if self.track_running_stats else []
        for tensor in wanted:
            if tensor is not None:
                tensor.materialize((self.num_features,))
        self.reset_parameters()


def require_axes(input, *allowed):
    """Raise unless the input has one of these numbers of axes."""
    if input.dim() not in allowed:
        expected = " or ".join(f"{number}D" for number in allowed)
        raise ValueError(f"expected {expected} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Normalize `(N, C)` or `(N, C, L)` over all axes but the channels'. ...

    Examples
    --------
    >>> layer = nn.BatchNorm1d(2)
    >>> layer(torch.tensor([[1.0, 10.0], [3.0, 30.0]])).detach().round()
    tensor([[-1., -1.],
            [ 1.,  1.]])
    >>> layer.running_mean
    tensor([0.2000, 2.0000])

    """

    def _check_input_dim(self, input):
        require_axes(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalize `(N, C, H, W)` over all axes but the channels'. ...

    Examples
    --------
    >>> layer = nn.BatchNorm2d(3)
    >>> layer(torch.zeros(8, 3, 4, 4)).shape
    torch.Size([8, 3, 4, 4])
    >>> layer.num_batches_tracked
    tensor(1)

    """

    def _check_input_dim(self, input):
        require_axes(input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalize `(N, C, D, H, W)` over all axes but the channels'; see `_BatchNorm` for the parameters."""

    def _check_input_dim(self, input):
        require_axes(input, 5)


def make_lazy(*classes, check="_check_input_dim"):
    """Return the lazy classes of normalizations; of each the check of its input is the same."""
    for kind in classes:
        yield type("Lazy" + kind.__name__, (_LazyNormBase, *kind.__bases__), {
            "cls_to_become": kind, check: getattr(kind, check), "__module__": kind.__module__,
            "__doc__": f"The {kind.__name__} that takes `num_features` from its first input."})


LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = make_lazy(BatchNorm1d, BatchNorm2d, BatchNorm3d)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization by the statistics of what all processes of a group have.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        See `_BatchNorm`.
    process_group : Any, optional
        The group of processes; all of them by default.

    """

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True,
                 process_group=None, device=None, dtype=None, *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, **factory(device, dtype), bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _check_non_zero_input_channels(self, input):
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input):
        """Return the input, normalized in training by the statistics of all processes' inputs."""
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        from dragon.vm.torch import distributed
        if not (self.training and distributed.is_initialized()):
            return super().forward(input)
        group = self.process_group or distributed.group.WORLD
        if distributed.get_world_size(group) < 2:
            return super().forward(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        mean = var = None
        if self.track_running_stats:
            mean, var = self.running_mean, self.running_var
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        from dragon.vm.torch.nn.modules._synchronized import batch_norm
        return batch_norm(input, mean, var, self.weight, self.bias, momentum, self.eps, group._core)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """Return the module with all batch normalizations in it replaced by this class."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                       process_group, bias=not module.affine or module.bias is not None)
            for name, tensor in {**module._parameters, **module._buffers}.items():
                setattr(made, name, tensor)
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
