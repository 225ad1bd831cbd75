"""Schedules that go up and down: cycles, one cycle, warm restarts."""
import math
import types
from functools import partial

from dragon.vm.torch.optim._schedules import (LRScheduler, _format_param, _update_param_group_val, check_optimizer,
                                              set_momentum, start_momentum_cycle)


class CyclicLR(LRScheduler):
    """Go up and down between two rates; the momentum, if wanted, the other way round.

    Parameters
    ----------
    base_lr : Union[float, List[float]]
        The lowest rate.
    max_lr : Union[float, List[float]]
        The highest rate of the first cycle.
    step_size_up : int, optional, default=2000
        Steps on the way up.
    step_size_down : int, optional
        Steps on the way down; as many by default.
    mode : str, optional, default="triangular"
        "triangular", "triangular2" (halved after each cycle) or "exp_range" (times `gamma` at each step).
    gamma : float, optional, default=1.0
        For "exp_range".
    scale_fn : Callable[[float], float], optional
        The height in place of `mode`.
    scale_mode : str, optional, default="cycle"
        Whether `scale_fn` gets the number of the "cycle" or of the step ("iterations").

    """

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular",
                 gamma=1.0, scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8,
                 max_momentum=0.9, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = _format_param("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                _update_param_group_val(group, "lr", lr)
        self.max_lrs = _format_param("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = start_momentum_cycle(self, optimizer, base_momentum,
                                                                           max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self):
        if self._scale_fn_custom is None:
            self._scale_fn_ref, self.scale_mode = {
                "triangular": (self._triangular_scale_fn, "cycle"),
                "triangular2": (self._triangular2_scale_fn, "cycle"),
                "exp_range": (partial(self._exp_range_scale_fn, self.gamma), "iterations")}[self.mode]

    def scale_fn(self, x):
        """Return the height of a cycle or step."""
        return (self._scale_fn_ref if self._scale_fn_custom is None else self._scale_fn_custom)(x)

    @staticmethod
    def _triangular_scale_fn(x):
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x):
        return 1 / (2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma, x):
        return gamma ** x

    def get_lr(self):
        """Compute the rates, and set the momenta."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        share = place / self.step_ratio if place <= self.step_ratio else (place - 1) / (self.step_ratio - 1)
        height = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                set_momentum(group, high - (high - low) * share * height, self.use_beta1)
        return [low + (high - low) * share * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        """Return everything but the optimizer and plain functions."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        custom = state.pop("_scale_fn_custom")
        plain = custom is None or isinstance(custom, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else custom.__dict__.copy()
        return state

    def load_state_dict(self, state_dict):
        custom = state_dict["_scale_fn_custom"]
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if custom is not None:
            self._scale_fn_custom.__dict__.update(custom)
        self._init_scale_fn()


class CosineAnnealingWarmRestarts(LRScheduler):
    """Fall along a cosine, jump back to the first rate, and fall again.

    Parameters
    ----------
    T_0 : int
        Steps until the first restart.
    T_mult : int, optional, default=1
        By what that number grows at each restart.
    eta_min : float, optional, default=0.0
        The lowest rate.

    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        return [self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
                for base in self.base_lrs]

    def step(self, epoch=None):
        """Set the rates of the next step, or of a step named by its number or a fraction of one."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._jump(epoch)
        self.last_epoch = math.floor(epoch)
        self._set_rates(self.get_lr)

    def _jump(self, epoch):
        """Set where in which cycle a step is."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            cycle = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** cycle - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** cycle


def _phase(end_step, lrs, momenta):
    start_lr, end_lr = lrs.split()
    start_momentum, end_momentum = momenta.split()
    return {"end_step": end_step, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum,
            "end_momentum": end_momentum}


class OneCycleLR(LRScheduler):
    """Go up to a high rate and down to a very low one, once; the momentum, if wanted, the other way round.

    Parameters
    ----------
    max_lr : Union[float, List[float]]
        The highest rate.
    total_steps : int, optional
        Steps in all; or `epochs` times `steps_per_epoch`.
    epochs : int, optional
        How many epochs.
    steps_per_epoch : int, optional
        Of how many steps.
    pct_start : float, optional, default=0.3
        The share of the steps on the way up.
    div_factor : float, optional, default=25.0
        How much lower the first rate is than the highest.
    final_div_factor : float, optional, default=1e4
        How much lower the last rate is than the first.
    three_phase : bool, optional, default=False
        Whether to come down to the first rate before going to the last.

    Examples
    --------
    >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
    >>> scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> round(scheduler.get_last_lr()[0], 4)
    0.04

    """

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3,
                 anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
                 final_div_factor=1e4, three_phase=False, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = self._count_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = self._phases(float(pct_start * self.total_steps),
                                             float(2 * pct_start * self.total_steps), three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        highest = _format_param("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for top, group in zip(highest, optimizer.param_groups):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            start_momentum_cycle(self, optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _count_steps(total_steps, epochs, steps_per_epoch):
        given = {"total_steps": total_steps} if total_steps is not None else \
            {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        if None in given.values():
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        for name, value in given.items():
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        return math.prod(given.values())

    def _phases(self, once, twice, three_phase):
        down = "base_momentum max_momentum"
        first = _phase(once - 1, "initial_lr max_lr", "max_momentum base_momentum")
        if not three_phase:
            return [first, _phase(self.total_steps - 1, "max_lr min_lr", down)]
        return [first, _phase(twice - 2, "max_lr initial_lr", down),
                _phase(self.total_steps - 1, "initial_lr min_lr", "max_momentum max_momentum")]

    def _anneal_func(self, start, end, pct):
        return (self._annealing_cos if self._anneal_func_type == "cos" else self._annealing_linear)(start, end, pct)

    @staticmethod
    def _annealing_cos(start, end, pct):
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start, end, pct):
        return (end - start) * pct + start

    def get_lr(self):
        """Compute the rates, and set the momenta."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        begin, last = 0.0, self._schedule_phases[-1]
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is last:
                break
            begin = phase["end_step"]
        share = (step - begin) / (phase["end_step"] - begin)
        lrs = []
        for group in self.optimizer.param_groups:
            lrs.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                momentum = self._anneal_func(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                set_momentum(group, momentum, self.use_beta1)
        return lrs
