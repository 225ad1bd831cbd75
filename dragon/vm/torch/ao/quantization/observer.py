"""Observers: modules that look at the numbers that pass, and say by which scale and zero point to quantize them."""
import functools

from dragon.core import warnings
from dragon.vm import torch
from dragon.vm.torch.nn.modules.module import Module

EPSILON = torch.finfo(torch.float32).eps
PER_TENSOR = (torch.per_tensor_affine, torch.per_tensor_symmetric)
PER_CHANNEL = (torch.per_channel_affine, torch.per_channel_symmetric, torch.per_channel_affine_float_qparams)
# The least and the largest integer of each dtype.
BOUNDS = {torch.qint8: (-128, 127), torch.int8: (-128, 127), torch.quint8: (0, 255), torch.uint8: (0, 255),
          torch.quint4x2: (0, 15), torch.qint32: (-2 ** 31, 2 ** 31 - 1), torch.int32: (-2 ** 31, 2 ** 31 - 1),
          torch.int16: (-2 ** 15, 2 ** 15 - 1), torch.uint16: (0, 2 ** 16 - 1)}


class _PartialWrapper:
    """A class with some of its arguments given; `with_args` gives more."""

    def __init__(self, p):
        self.p, self.callable_args = p, {}

    def __call__(self, *args, **keywords):
        made = {name: make() for name, make in self.callable_args.items() if name not in keywords}
        return self.p(*args, **made, **keywords)

    def __repr__(self):
        return f"{self.p!r}{self.callable_args!r}"

    def with_args(self, **kwargs):
        """Return the class with further arguments."""
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs):
        """Return the class with arguments that are made anew, by functions, for each instance."""
        more = _PartialWrapper(self.p)
        more.callable_args = {**self.callable_args, **kwargs}
        return more


def _with_args(cls_or_self, **kwargs):
    """Return a class with some of its arguments given."""
    inner = cls_or_self.p if isinstance(cls_or_self, _PartialWrapper) else cls_or_self
    wrapped = _PartialWrapper(functools.partial(inner, **kwargs))
    if isinstance(cls_or_self, _PartialWrapper):
        wrapped.callable_args = dict(cls_or_self.callable_args)
    return wrapped


class ObserverBase(Module):
    """What every observer has.

    Parameters
    ----------
    dtype : dtype
        The integers that there will be.
    is_dynamic : bool, optional, default=False
        Whether scales are chosen anew at each call.

    """

    with_args = classmethod(_with_args)

    def __init__(self, dtype, is_dynamic=False):
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    def forward(self, x):
        """Look at numbers; return them."""
        raise NotImplementedError(f"{type(self).__name__}: got no forward, expected one")

    def calculate_qparams(self, **kwargs):
        """Return the scale and the zero point."""
        raise NotImplementedError(f"{type(self).__name__}: got no calculate_qparams, expected one")

    @classmethod
    def with_callable_args(cls, **kwargs):
        """Return the class with arguments that are made anew, by functions, for each instance."""
        return _PartialWrapper(functools.partial(cls)).with_callable_args(**kwargs)


class UniformQuantizationObserverBase(ObserverBase):
    """An observer of a least and a largest number, between which integers are spread evenly.

    Parameters
    ----------
    dtype : dtype, optional, default=torch.quint8
        The integers that there will be.
    qscheme : qscheme, optional, default=torch.per_tensor_affine
        Whether there is a zero point, and one scale or one for each channel.
    reduce_range : bool, optional, default=False
        Whether a bit is left free, that products do not overflow.
    quant_min, quant_max : int, optional
        The least and the largest integer, if not the dtype's.
    factory_kwargs : Dict[str, Any], optional
        The device and dtype of buffers.
    eps : float, optional, default=torch.finfo(torch.float32).eps
        The least scale.
    is_dynamic : bool, optional, default=False
        Whether scales are chosen anew at each call.

    """

    _version = 3

    def __init__(self, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False, quant_min=None,
                 quant_max=None, factory_kwargs=None, eps=EPSILON, is_dynamic=False, **kwargs):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        if qscheme not in PER_TENSOR + PER_CHANNEL:
            raise AssertionError(f"{type(self).__name__}: got qscheme={qscheme}. Default Observer only works for "
                                 "per_tensor_affine, per_tensor_symmetric, per_channel_affine, "
                                 "per_channel_symmetric and per_channel_float_qparams quantization scheme")
        if dtype not in BOUNDS:
            raise AssertionError(f"{type(self).__name__}: got {dtype}. Default Observer only works for {tuple(BOUNDS)} "
                                 "data type")
        if reduce_range:
            warnings.warn("Please use quant_min and quant_max to specify the range for observers. "
                          "reduce_range will be deprecated in a future release of PyTorch.", UserWarning)
        self.qscheme, self.reduce_range = qscheme, reduce_range
        self.register_buffer("eps", torch.tensor([eps], **(factory_kwargs or {})))
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if self.has_customized_qrange:
            self._validate_qmin_qmax(quant_min, quant_max)
        else:
            quant_min, quant_max = BOUNDS[dtype]
        if reduce_range and dtype is not torch.qint32:
            quant_min, quant_max = quant_min // 2, quant_max // 2
        self.quant_min, self.quant_max = quant_min, quant_max

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        if local_metadata.get("version") in (None, 1):  # which had no such buffer
            state_dict[prefix + "eps"] = torch.tensor([EPSILON])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _validate_qmin_qmax(self, quant_min, quant_max):
        """Raise unless 0 is within bounds."""
        if not quant_min <= 0 <= quant_max:
            raise AssertionError(f"{type(self).__name__}: got quant_min={quant_min} and quant_max={quant_max}. "
                                 "Used-specified quantization range must include 0.")
        if quant_min >= quant_max:
            raise AssertionError(f"{type(self).__name__}: got quant_min={quant_min} and quant_max={quant_max}. qmin "
                                 "must be strictly less than qmax for user-specified quantization range.")

    def _calculate_qparams(self, min_val, max_val):
        """Return scales and zero points for least and largest numbers."""
        if min_val.numel() == 0 or max_val.numel() == 0 or (
                min_val.ndim == 0 and min_val.isinf() and max_val.isinf() and min_val > 0):
            warnings.warn("must run observer before calling calculate_qparams. Returning default values.", UserWarning)
            return torch.tensor([1.0]), torch.tensor([0])
        if not torch.all(min_val <= max_val):
            raise AssertionError(f"{type(self).__name__}: got least numbers {min_val} and largest {max_val}, expected "
                                 "no least one above its largest one: min should be less than max")
        low, high = self.quant_min, self.quant_max
        least, most = torch.clamp(min_val, max=0), torch.clamp(max_val, min=0)
        points = torch.zeros(least.shape, dtype=torch.int64)
        if self.qscheme in (torch.per_tensor_symmetric, torch.per_channel_symmetric):
            scales = torch.maximum(torch.maximum(-least, most) / ((high - low) / 2), self.eps)
            if self.dtype in (torch.quint8, torch.uint8):
                points = torch.full_like(points, (low + high) // 2 if self.has_customized_qrange else 128)
            elif self.dtype == torch.uint16:
                points = torch.full_like(points, 2 ** 15)
        elif self.qscheme == torch.per_channel_affine_float_qparams:
            scales = (max_val - min_val) / float(high - low)
            scales = torch.where(scales > self.eps, scales, torch.ones_like(scales))
            points = -1 * min_val / scales
        else:
            scales = torch.maximum((most - least) / float(high - low), self.eps)
            points = torch.clamp(low - torch.round(least / scales).to(torch.int32), low, high)
        return scales.reshape(-1), points.reshape(-1)

    def reset_min_max_vals(self):
        """Forget what was seen."""
        raise NotImplementedError("Cannot reset min/max values in the given observer.")

    def calculate_qparams(self):
        """Return the scales and zero points for what was seen."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self):
        """Return what `repr` tells of it."""
        return f"min_val={self.min_val}, max_val={self.max_val}"


class MinMaxObserver(UniformQuantizationObserverBase):
    """An observer of the least and the largest number of all that passed; its arguments are the base class's.

    Examples
    --------
    >>> from torch.ao.quantization import MinMaxObserver
    >>> observer = MinMaxObserver(dtype=torch.quint8)
    >>> x = observer(torch.tensor([-1.0, 0.5, 1.55]))
    >>> observer.calculate_qparams()
    (tensor([0.0100]), tensor([100], dtype=torch.int32))

    """

    def __init__(self, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False, quant_min=None,
                 quant_max=None, factory_kwargs=None, eps=EPSILON, is_dynamic=False, **kwargs):
        who = type(self).__name__
        if qscheme not in PER_TENSOR:
            raise NotImplementedError(f"{who}: got qscheme={qscheme}. {who}'s qscheme only support "
                                      "torch.per_tensor_symmetric and torch.per_tensor_affine.")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        if qscheme == torch.per_tensor_symmetric and reduce_range and dtype == torch.quint8:
            raise NotImplementedError(f"{who}: got reduce_range=True, torch.per_tensor_symmetric and torch.quint8. "
                                      "Cannot reduce range for symmetric quantization for quint8")
        self.register_buffer("min_val", torch.tensor(float("inf"), **(factory_kwargs or {})))
        self.register_buffer("max_val", torch.tensor(float("-inf"), **(factory_kwargs or {})))

    def forward(self, x_orig):
        """Look at numbers; return them."""
        if x_orig.numel():
            least, most = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
            self.min_val.copy_(torch.minimum(least, self.min_val))
            self.max_val.copy_(torch.maximum(most, self.max_val))
        return x_orig

    def reset_min_max_vals(self):
        """Forget what was seen."""
        self.min_val.copy_(torch.tensor(float("inf")))
        self.max_val.copy_(torch.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """An observer of running means of the least and of the largest number of each call.

    Parameters
    ----------
    averaging_constant : float, optional, default=0.01
        The share of the newest call.
    **kwargs
        Those of `MinMaxObserver`.

    """

    def __init__(self, averaging_constant=0.01, dtype=torch.quint8, qscheme=torch.per_tensor_affine, reduce_range=False,
                 quant_min=None, quant_max=None, eps=EPSILON, is_dynamic=False, **kwargs):
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError(f"MovingAverageMinMaxObserver: got averaging_constant={averaging_constant}, "
                                      "expected 1 for dynamic quantization, which takes each call by itself")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs)
        self.averaging_constant = averaging_constant

    def forward(self, x_orig):
        """Look at numbers; return them."""
        if x_orig.numel():
            least, most = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
            if not (self.min_val.isinf() and self.max_val.isinf()):
                least = self.min_val + self.averaging_constant * (least - self.min_val)
                most = self.max_val + self.averaging_constant * (most - self.max_val)
            self.min_val.copy_(least)
            self.max_val.copy_(most)
        return x_orig


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """An observer of the least and the largest number of each channel.

    Parameters
    ----------
    ch_axis : int, optional, default=0
        Along which axis the channels lie.
    **kwargs
        Those of the base class.

    """

    def __init__(self, ch_axis=0, dtype=torch.quint8, qscheme=torch.per_channel_affine, reduce_range=False,
                 quant_min=None, quant_max=None, factory_kwargs=None, eps=EPSILON, is_dynamic=False, **kwargs):
        who = type(self).__name__
        if qscheme not in PER_CHANNEL:
            raise NotImplementedError(f"{who}: got qscheme={qscheme}. {who}'s qscheme only support "
                                      "torch.per_channel_symmetric, torch.per_channel_affine and "
                                      "torch.per_channel_affine_float_qparams.")
        if is_dynamic:
            raise NotImplementedError(f"{who}: got is_dynamic=True. {who} doesn't support dynamic quantization")
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic, **kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", torch.tensor([], **(factory_kwargs or {})))
        self.register_buffer("max_val", torch.tensor([], **(factory_kwargs or {})))

    def forward(self, x_orig):
        """Look at numbers; return them."""
        if x_orig.numel():
            channels = x_orig.detach().to(self.min_val.dtype).movedim(self.ch_axis, 0).flatten(1)
            least, most = torch.aminmax(channels, dim=1)
            if self.min_val.numel():
                least, most = self._joined(least, most)
            for held, found in ((self.min_val, least), (self.max_val, most)):
                held.resize_(found.shape).copy_(found)
        return x_orig

    def _joined(self, least, most):
        return torch.minimum(least, self.min_val), torch.maximum(most, self.max_val)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, *rest):
        for name in ("min_val", "max_val"):  # as many channels as were seen
            if prefix + name + "s" in state_dict and local_metadata.get("version", 1) < 3:
                state_dict[prefix + name] = state_dict.pop(prefix + name + "s")
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, *rest)

    def reset_min_max_vals(self):
        """Forget what was seen."""
        self.min_val, self.max_val = torch.zeros(0), torch.zeros(0)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """An observer of running means of the least and of the largest number of each channel.

    Parameters
    ----------
    averaging_constant : float, optional, default=0.01
        The share of the newest call.
    **kwargs
        Those of `PerChannelMinMaxObserver`.

    """

    def __init__(self, averaging_constant=0.01, ch_axis=0, dtype=torch.quint8, qscheme=torch.per_channel_affine,
                 reduce_range=False, quant_min=None, quant_max=None, eps=EPSILON, is_dynamic=False, **kwargs):
        super().__init__(ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic,
                         **kwargs)
        self.averaging_constant = averaging_constant

    def _joined(self, least, most):
        return (self.min_val + self.averaging_constant * (least - self.min_val),
                self.max_val + self.averaging_constant * (most - self.max_val))


class PlaceholderObserver(ObserverBase):
    """An observer that looks at nothing: it only says which dtype there will be.

    Parameters
    ----------
    dtype : dtype, optional, default=torch.float32
        The numbers that there will be.
    custom_op_name : str, optional, default=""
        An operator of that name stands here later.
    compute_dtype : dtype, optional
        Formerly the dtype of dynamic quantization, which `is_dynamic` says now.
    quant_min, quant_max : int, optional
        The least and the largest integer, if not the dtype's.
    qscheme : qscheme, optional
        One scale, or one for each channel.
    eps : float, optional
        The least scale.
    is_dynamic : bool, optional, default=False
        Whether scales are chosen anew at each call.

    """

    def __init__(self, dtype=torch.float32, custom_op_name="", compute_dtype=None, quant_min=None, quant_max=None,
                 qscheme=None, eps=None, is_dynamic=False):
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = torch.per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max, self.custom_op = quant_min, quant_max, custom_op_name
        self.eps = EPSILON if eps is None else eps
        if compute_dtype:
            warnings.warn("Please use `is_dynamic` instead of `compute_dtype`. `compute_dtype` will be deprecated in a "
                          "future release of PyTorch.", UserWarning)
            self.is_dynamic = True

    def forward(self, x):
        """Return the numbers."""
        return x

    def extra_repr(self):
        """Return what `repr` tells of it."""
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self):
        """Raise: nothing was looked at."""
        raise Exception("calculate_qparams should not be called for PlaceholderObserver")


class NoopObserver(ObserverBase):
    """An observer that looks at nothing.

    Parameters
    ----------
    dtype : dtype, optional, default=torch.float16
        The numbers that there will be.
    custom_op_name : str, optional, default=""
        An operator of that name stands here later.

    """

    def __init__(self, dtype=torch.float16, custom_op_name=""):
        super().__init__(dtype=dtype, is_dynamic=False)
        self.custom_op = custom_op_name

    def forward(self, x):
        """Return the numbers."""
        return x

    def calculate_qparams(self):
        """Raise: nothing was looked at."""
        raise Exception("calculate_qparams should not be called for NoopObserver")


class RecordingObserver(ObserverBase):
    """An observer that keeps all that passes.

    Parameters
    ----------
    dtype : dtype, optional, default=torch.quint8
        The integers that there will be.

    """

    def __init__(self, dtype=torch.quint8):
        super().__init__(dtype=dtype, is_dynamic=False)
        self.tensor_val = []

    def forward(self, x):
        """Keep a copy of the numbers; return them."""
        self.tensor_val.append(x.clone())
        return x

    def calculate_qparams(self):
        """Raise: it only keeps."""
        raise Exception("calculate_qparams should not be called for RecordingObserver")

    def get_tensor_value(self):
        """Return what was kept."""
        return self.tensor_val


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_tensor_symmetric, quant_min=-127, quant_max=127, eps=2 ** -12)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_channel_symmetric)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_channel_symmetric, quant_min=-127, quant_max=127, eps=2 ** -12)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=torch.quint8, quant_min=0, quant_max=255, is_dynamic=True)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=torch.quint8, qscheme=torch.per_channel_affine_float_qparams, ch_axis=0)
