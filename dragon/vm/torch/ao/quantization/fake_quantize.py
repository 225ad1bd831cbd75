"""Modules that round numbers as if they were quantized, for networks that are to learn with it."""
from dragon.vm import torch
from dragon.vm.torch.ao.quantization.observer import (PER_CHANNEL, MovingAverageMinMaxObserver,
                                                      MovingAveragePerChannelMinMaxObserver,
                                                      _with_args)
from dragon.vm.torch.core.quantized.making import fitting
from dragon.vm.torch.nn.modules.module import Module


class FakeQuantizeBase(Module):
    """What every such module has: switches for rounding and for looking."""

    with_args = classmethod(_with_args)

    def __init__(self):
        super().__init__()
        self.register_buffer("fake_quant_enabled", torch.tensor([1], dtype=torch.uint8))
        self.register_buffer("observer_enabled", torch.tensor([1], dtype=torch.uint8))

    def forward(self, x):
        """Return rounded numbers."""
        raise NotImplementedError(f"{type(self).__name__}: got no forward, expected one")

    def calculate_qparams(self, **kwargs):
        """Return the scale and the zero point."""
        raise NotImplementedError(f"{type(self).__name__}: got no calculate_qparams, expected one")

    def enable_fake_quant(self, enabled=True):
        """Say whether numbers are rounded."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self):
        """Say that numbers are not rounded."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled=True):
        """Say whether scales follow what passes."""
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self):
        """Say that scales stay."""
        self.enable_observer(False)


class FakeQuantize(FakeQuantizeBase):
    """Round numbers by the scale and zero point that an observer finds.

    Parameters
    ----------
    observer : Callable, optional, default=MovingAverageMinMaxObserver
        The class of the observer.
    quant_min, quant_max : int, optional
        The least and the largest integer, if not the dtype's.
    is_dynamic : bool, optional, default=False
        Whether scales are chosen anew at each call.
    **observer_kwargs
        Further arguments of the observer.

    Examples
    --------
    >>> from torch.ao.quantization import FakeQuantize
    >>> module = FakeQuantize(quant_min=0, quant_max=15)
    >>> module(torch.tensor([0.0, 0.31, 1.5]))
    tensor([0.0000, 0.3000, 1.5000])

    """

    def __init__(self, observer=MovingAverageMinMaxObserver, quant_min=None, quant_max=None, is_dynamic=False,
                 **observer_kwargs):
        super().__init__()
        if quant_min is not None and quant_max is not None:
            given = getattr(getattr(observer, "p", None), "keywords", {})
            bounds = torch.iinfo(given.get("dtype", observer_kwargs.get("dtype", torch.quint8)))
            for wrong, sentence in ((quant_min > quant_max, "quant_min must be less than or equal to quant_max"),
                                    (quant_min < bounds.min, "quant_min out of bound"),
                                    (quant_max > bounds.max, "quant_max out of bound")):
                if wrong:
                    raise AssertionError(f"FakeQuantize: got quant_min={quant_min} and quant_max={quant_max}: "
                                         f"{sentence}")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        made = self.activation_post_process = observer(**observer_kwargs, is_dynamic=is_dynamic)
        self.quant_min, self.quant_max, self.is_dynamic = made.quant_min, made.quant_max, made.is_dynamic
        self.dtype, self.qscheme, self.ch_axis = made.dtype, made.qscheme, getattr(made, "ch_axis", -1)
        self.is_per_channel = self.qscheme in PER_CHANNEL
        has_floats = self.qscheme == torch.per_channel_affine_float_qparams
        self.register_buffer("scale", torch.tensor([1.0], dtype=torch.float32))
        self.register_buffer("zero_point", torch.tensor([0], dtype=torch.float32 if has_floats else torch.int32))

    def calculate_qparams(self):
        """Return the scale and the zero point for what was seen."""
        return self.activation_post_process.calculate_qparams()

    def _scales(self):
        return self.calculate_qparams()

    def forward(self, X):
        """Return rounded numbers."""
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            for held, found in zip((self.scale, self.zero_point), self._scales()):
                held.resize_(found.shape).copy_(found)
        if self.fake_quant_enabled[0] != 1:
            return X
        low, high = self.activation_post_process.quant_min, self.activation_post_process.quant_max
        if self.is_per_channel:
            return torch.fake_quantize_per_channel_affine(X, self.scale, self.zero_point, self.ch_axis, low, high)
        return torch.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, low, high)

    def extra_repr(self):
        """Return what `repr` tells of it."""
        observer = self.activation_post_process
        return (f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
                f"quant_min={observer.quant_min}, quant_max={observer.quant_max}, dtype={self.dtype}, "
                f"qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, zero_point={self.zero_point}")

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        for name in ("scale", "zero_point"):  # as many as there were channels
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """Round numbers by running means of the least and the largest one; its arguments are `FakeQuantize`'s."""

    def __init__(self, observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, is_dynamic=False,
                 **observer_kwargs):
        super().__init__(observer, quant_min, quant_max, is_dynamic, **observer_kwargs)
        known = (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver)
        if not isinstance(self.activation_post_process, known):
            raise AssertionError(f"FusedMovingAvgObsFakeQuantize: got {observer}. Fused observer+fake_quant module "
                                 "only works with MovingAverageMinMaxObserver")

    def _scales(self):
        """Return what PyTorch's kernel finds: zero points of symmetric scales too, where numbers are of one sign."""
        observer = self.activation_post_process
        low, high = observer.quant_min, observer.quant_max
        is_symmetric = self.qscheme in (torch.per_tensor_symmetric, torch.per_channel_symmetric)
        scales, points = [], []
        for least, most in zip(observer.min_val.reshape(-1).tolist(), observer.max_val.reshape(-1).tolist()):
            if is_symmetric and least < 0 < most:
                half = (high - low) // 2
                widest = max(abs(least / (half + 1)), most / half)
                scale, _ = fitting(-widest * (half + 1), widest * half, low, high)
                point = round((low + high) / 2)
            else:
                scale, point = fitting(least, most, low, high)
            scales.append(scale)
            points.append(point)
        return torch.tensor(scales), torch.tensor(points)


def _switching(name, sentence):
    def switch(mod):
        if isinstance(mod, FakeQuantizeBase):
            getattr(mod, name)()
    switch.__name__ = switch.__qualname__ = name
    switch.__doc__ = f"{sentence} Give it to `Module.apply`."
    return switch


disable_fake_quant = _switching("disable_fake_quant", "Have a module of this kind no longer round.")
enable_fake_quant = _switching("enable_fake_quant", "Have a module of this kind round.")
disable_observer = _switching("disable_observer", "Have a module of this kind keep its scales.")
enable_observer = _switching("enable_observer", "Have a module of this kind follow what passes.")

default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=torch.quint8,
    qscheme=torch.per_tensor_affine, reduce_range=True)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8,
    qscheme=torch.per_tensor_symmetric, reduce_range=False)
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8,
    qscheme=torch.per_channel_symmetric, reduce_range=False, ch_axis=0)
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=torch.quint8)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8,
    qscheme=torch.per_tensor_symmetric)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, quant_min=-128, quant_max=127, dtype=torch.qint8,
    qscheme=torch.per_channel_symmetric)
