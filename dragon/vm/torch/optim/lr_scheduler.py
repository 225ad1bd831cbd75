"""Schedules of the learning rate."""
import math
from bisect import bisect_right
from collections import Counter

from dragon.core import warnings
from dragon.vm.torch.optim._cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR  # noqa: F401
from dragon.vm.torch.optim._schedules import (EPOCH_DEPRECATION_WARNING, CompositeScheduler, FunctionScheduler,  # noqa
                                              LRScheduler, _format_param, _LRScheduler, _param_groups_val_list,
                                              _update_param_group_val, check_optimizer)
from dragon.vm.torch.optim.optimizer import Optimizer  # noqa: F401


class LambdaLR(FunctionScheduler):
    """The first rate times a function of the number of the step.

    Parameters
    ----------
    lr_lambda : Union[Callable[[int], float], List[Callable[[int], float]]]
        One function, or one per group.

    Examples
    --------
    >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5 ** epoch)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]

    """

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        self._set_functions(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(FunctionScheduler):
    """The last rate times a function of the number of the step; the arguments are those of `LambdaLR`."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer = optimizer
        self._set_functions(optimizer, lr_lambda)
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial:
            return self._unchanged()
        return [group["lr"] * function(self.last_epoch)
                for function, group in zip(self.lr_lambdas, self.optimizer.param_groups)]


class StepLR(LRScheduler):
    """Multiply the rate by `gamma` every `step_size` steps.

    Parameters
    ----------
    step_size : int
        After how many steps.
    gamma : float, optional, default=0.1
        The factor.

    Examples
    --------
    >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]

    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._unchanged()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiply the rate by `gamma` at each of the `milestones`."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._unchanged()
        return self._scaled(self.gamma ** self.milestones[self.last_epoch])

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma ** passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rate times `factor` for `total_iters` steps."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        return self._scaled(1.0 / self.factor) if self.last_epoch == self.total_iters else self._unchanged()

    def _get_closed_form_lr(self):
        return [base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor))
                for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The rate times a factor that goes from `start_factor` to `end_factor` in `total_iters` steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        rise = self.end_factor - self.start_factor
        return self._scaled(1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def _get_closed_form_lr(self):
        return [base * (self.start_factor + (self.end_factor - self.start_factor)
                        * min(self.total_iters, self.last_epoch) / self.total_iters) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiply the rate by `gamma` at every step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        return self._unchanged() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma ** self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Let the rate fall to zero in `total_iters` steps, as a polynomial of degree `power`."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._unchanged()
        return self._scaled(((1.0 - self.last_epoch / self.total_iters)
                             / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power)

    def _get_closed_form_lr(self):
        share = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * share ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Let the rate fall to `eta_min` along half a cosine of `T_max` steps, and rise again.

    Parameters
    ----------
    T_max : int
        How many steps the fall takes.
    eta_min : float, optional, default=0.0
        The lowest rate.

    Examples
    --------
    >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]

    """

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_outside_step()
        if self._is_initial:
            return self._unchanged()
        if self._step_count == 1 and self.last_epoch > 0:
            height = 1 + math.cos(self.last_epoch * math.pi / self.T_max)
            return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            first = 1 - math.cos(math.pi / self.T_max)
            return [group["lr"] + (base - self.eta_min) * first / 2
                    for base, group in zip(self.base_lrs, self.optimizer.param_groups)]
        ratio = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) \
            / (1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max))
        return [ratio * (group["lr"] - self.eta_min) + self.eta_min for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self):
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class SequentialLR(CompositeScheduler):
    """One schedule after the other.

    Parameters
    ----------
    schedulers : List[LRScheduler]
        The schedules.
    milestones : List[int]
        The steps at which the next one takes over.

    """

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check_parts(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError("Sequential Schedulers expects number of schedulers provided to be one more than the "
                             f"number of milestone points, but got {len(schedulers)} and {len(milestones)}")
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Every part has made its first step when it was built: back to the start, and let the right one make it.
        for group in optimizer.param_groups:
            _update_param_group_val(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched=None):
        """Take back the step that every part made when it was built."""
        sched = self if sched is None else sched
        if hasattr(sched, "_schedulers"):
            for part in sched._schedulers:
                self.recursive_undo(part)
        elif hasattr(sched, "last_epoch"):
            sched.last_epoch -= 1

    def step(self):
        """Set the rates of the next step."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        current = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            current._update_lr(0)
        else:
            current.step()
        self._last_lr = current.get_last_lr()


class ChainedScheduler(CompositeScheduler):
    """Several schedules at once, each on top of those before it."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self._check_parts(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = self._unchanged()

    def step(self):
        """Set the rates of the next step."""
        for part in self._schedulers:
            part.step()
        self._last_lr = self._unchanged()


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rate by `factor` when a metric has not become better for more than `patience` steps.

    Parameters
    ----------
    mode : str, optional, default="min"
        Whether smaller is better ("min") or larger ("max").
    factor : float, optional, default=0.1
        What the rate is multiplied by.
    patience : int, optional, default=10
        How many steps without improvement are borne.
    threshold : float, optional, default=1e-4
        How much better is better.
    threshold_mode : str, optional, default="rel"
        Whether that is a share ("rel") or a difference ("abs").
    cooldown : int, optional, default=0
        Steps after a reduction in which nothing is counted.
    min_lr : Union[float, List[float]], optional, default=0
        The lowest rate.
    eps : float, optional, default=1e-8
        A change of the rate that is smaller is not made.

    Examples
    --------
    >>> optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=0)
    >>> for loss in (1.0, 2.0):
    ...     scheduler.step(loss)
    >>> optimizer.param_groups[0]["lr"]
    0.1

    """

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel",
                 cooldown=0, min_lr=0, eps=1e-8):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        check_optimizer(optimizer)
        self.optimizer = optimizer
        several = isinstance(min_lr, (list, tuple))
        if several and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}")
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else [min_lr] * len(optimizer.param_groups)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = self._unchanged()
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self):
        """Forget the best value and the counts."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics, epoch=None):
        """Take note of the metric, and reduce the rates if it is time.

        Parameters
        ----------
        metrics : SupportsFloat
            The value of this step.

        """
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(self.last_epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._unchanged()

    def _reduce_lr(self, epoch):
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                                   f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}): set `min_lrs` anew")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                _update_param_group_val(group, "lr", new)

    in_cooldown = property(lambda self: self.cooldown_counter > 0,
                           doc="Whether a reduction was so recent that nothing is counted.")

    def _is_better(self, a, best):
        step = self.threshold if self.mode == "max" else -self.threshold
        bound = best * (1.0 + step) if self.threshold_mode == "rel" else best + step
        return a > bound if self.mode == "max" else a < bound

    def _init_is_better(self, mode, threshold, threshold_mode):
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
