"""Scaling of losses, so that small gradients survive float16."""
from collections import defaultdict
from enum import Enum

from dragon.core import warnings
from dragon.core import config
from dragon.vm.torch.autograd.grad_mode import no_grad
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.tensor import Tensor, ops


class OptState(Enum):
    """The state of an optimizer's gradients since the last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state():
    """Return the books of an optimizer after an update."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Multiply losses by a scale, divide gradients by it, and skip steps whose gradients are not finite.

    Parameters
    ----------
    device : str, optional, default="cuda"
        Where the scale lives; without CUDA, one for "cuda" is disabled with a warning.
    init_scale : float, optional, default=65536.0
        The first scale.
    growth_factor : float, optional, default=2.0
        What it is multiplied by after `growth_interval` good steps.
    backoff_factor : float, optional, default=0.5
        What it is multiplied by after a bad one.
    growth_interval : int, optional, default=2000
        How many good steps in a row it takes.
    enabled : bool, optional, default=True
        If False, everything passes through.

    Examples
    --------
    >>> weight = nn.Parameter(torch.tensor([1.0]))
    >>> optimizer = torch.optim.SGD([weight], lr=0.1)
    >>> scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    >>> scaler.scale((weight ** 2).sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> weight.detach()
    tensor([0.8000])

    """

    def __init__(self, device="cuda", init_scale=2.0 ** 16, growth_factor=2.0, backoff_factor=0.5,
                 growth_interval=2000, enabled=True):
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and config.device_count("cuda") == 0:
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError(f"The growth factor must be > 1.0. Got {growth_factor}")
        if backoff_factor >= 1.0:
            raise AssertionError(f"The backoff factor must be < 1.0. Got {backoff_factor}")
        self._init_scale = init_scale
        self._scale = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker = None
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _check_scale_growth_tracker(self, funcname):
        """Return scale and tracker, or raise if nothing was scaled yet."""
        if self._scale is None:
            raise AssertionError(f"Attempted {funcname} but _scale is None: call scaler.scale(loss) before")
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, dev):
        self._scale = ops.full((), float(self._init_scale), dtype=OBJECTS["float32"], device=dev)
        self._growth_tracker = ops.full((), self._init_growth_tracker, dtype=OBJECTS["int32"], device=dev)

    def scale(self, outputs):
        """Return a loss, or a structure of them, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale.to(outputs.device)
        if not hasattr(outputs, "__iter__"):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    @no_grad()
    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        """Multiply gradients by a number; return by device whether one of them was not finite."""
        by_device = defaultdict(list)
        for group in optimizer.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                if not allow_fp16 and param.grad.dtype == OBJECTS["float16"]:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                by_device[param.grad.device].append(param.grad)
        found = {}
        for device, grads in by_device.items():
            finite = all([bool(ops.all(ops.isfinite(grad))) for grad in grads])
            found[device] = found_inf.to(device) if finite else ops.ones_like(found_inf)
            ops.foreach_scale(grads, inv_scale.item())
        return found

    def unscale_(self, optimizer):
        """Divide the gradients of an optimizer's parameters by the scale; once between updates."""
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = ops.cast(ops.reciprocal(ops.cast(scale, OBJECTS["float64"])), OBJECTS["float32"])
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, ops.zeros_like(scale), False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer, *args, **kwargs):
        """Divide the gradients if that has not been done, and step unless one of them is not finite.

        Parameters
        ----------
        optimizer : Optimizer
            Whose step is made.

        Returns
        -------
        Optional[Any]
            What the step returned.

        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """Set the scale of the next step: lower after a bad one, higher after many good ones, or as given."""
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            if isinstance(new_scale, Tensor) and (new_scale.numel() != 1 or new_scale.requires_grad):
                raise AssertionError("new_scale should be a float or one number in a tensor without gradient")
            scale.fill_(float(new_scale))
        else:
            found = [item for state in self._per_optimizer_states.values()
                     for item in state["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(scale, tracker, any(item.item() for item in found))
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _adapt(self, scale, tracker, bad):
        if bad:
            scale.mul_(self._backoff_factor)
            tracker.fill_(0)
        elif tracker.item() + 1 < self._growth_interval:
            tracker.add_(1)
        else:
            grown = scale * self._growth_factor
            if bool(ops.isfinite(grown)):
                scale.copy_(grown)
            tracker.fill_(0)

    def _get_scale_async(self):
        return self._scale

    def get_scale(self):
        """Return the scale as a number; 1.0 if disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """Return what the scale is multiplied by after good steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Set what the scale is multiplied by after good steps."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """Return what the scale is multiplied by after a bad step."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Set what the scale is multiplied by after a bad step."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """Return how many good steps it takes."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Set how many good steps it takes."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def is_enabled(self):
        """Return whether losses are scaled."""
        return self._enabled

    def state_dict(self):
        """Return the scale and its rules; empty if disabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict):
        """Go on from what `state_dict` returned."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance "
                               "of GradScaler.")
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self):
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or "
                                     "at the end after scaler.update().")
            state.update(_init_scale=self.get_scale(), _init_growth_tracker=self._get_growth_tracker(), _scale=None,
                         _growth_tracker=None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)

    def _check_inf_per_device(self, optimizer):
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, ops.ones_like(scale), ops.zeros_like(scale),
                                                             True)
        return state["found_inf_per_device"]

    def _found_inf_per_device(self, optimizer):
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
