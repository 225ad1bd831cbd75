"""The base of all schedules of the learning rate."""
import functools
import types
import weakref

from dragon.core import warnings
from dragon.vm.torch.core.tensor import Tensor
from dragon.vm.torch.optim.optimizer import Optimizer, _to_scalar

EPOCH_DEPRECATION_WARNING = ("The epoch parameter in `scheduler.step()` was not necessary and is being deprecated "
                             "where possible. Please use `scheduler.step()` to step the scheduler.")
WRONG_ORDER = ("Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them the other way round, or "
               "the first value of the schedule is skipped.")
OVERRIDDEN = ("Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
              "make sure to call `optimizer.step()` before `lr_scheduler.step()`.")


def _copy(value):
    """Return a number itself, and a tensor's copy, which later writes do not reach."""
    return value.clone() if isinstance(value, Tensor) else value


def _format_param(name, optimizer, param):
    """Return one value per group."""
    groups = len(optimizer.param_groups)
    if not isinstance(param, (list, tuple)):
        return [_copy(param) for _ in range(groups)]
    if len(param) != groups:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has {len(param)} values, "
                         f"param_groups has {groups}.")
    return [_copy(item) for item in param]


def _param_groups_val_list(optimizer, key):
    """Return an option of all groups."""
    return [_copy(group[key]) for group in optimizer.param_groups]


def _update_param_group_val(param_group, key, val):
    """Set an option of a group; one that is a tensor is written into."""
    if isinstance(param_group[key], Tensor):
        param_group[key].fill_(_to_scalar(val))
    else:
        param_group[key] = val


def check_optimizer(optimizer):
    """Raise TypeError for anything but an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


class LRScheduler:
    """Set the learning rates of an optimizer's groups at every step. Subclasses define `get_lr`.

    Parameters
    ----------
    optimizer : Optimizer
        Whose groups have "lr".
    last_epoch : int, optional, default=-1
        The number of the last step when going on; -1 to begin.

    """

    _get_lr_called_within_step = False

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler "
                               "with last_epoch >= 0: load the optimizer's state first")
        self.base_lrs = _param_groups_val_list(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _notice_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        """Make the step that sets the first rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """Return everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Go on from what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """Return the rates of the last step, one per group."""
        return self._last_lr

    def get_lr(self):
        """Compute the rates."""
        raise NotImplementedError(f"{type(self).__name__}: got no get_lr, expected one")

    def step(self, epoch=None):
        """Set the rates of the next step. ..."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(OVERRIDDEN, UserWarning)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(WRONG_ORDER, UserWarning)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning)
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        """Set the rates; by the closed form, if there is one, when a step is named."""
        closed = epoch is not None and hasattr(self, "_get_closed_form_lr")
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set_rates(self._get_closed_form_lr if closed else self.get_lr)

    def _set_rates(self, compute):
        self._get_lr_called_within_step = True
        try:
            values = compute()
        finally:
            self._get_lr_called_within_step = False
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            _update_param_group_val(group, "lr", value)
        self._last_lr = _param_groups_val_list(self.optimizer, "lr")

    def _warn_outside_step(self):
        """Warn those who call `get_lr` themselves."""
        if not self._get_lr_called_within_step:
            warnings.warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                          UserWarning)

    def _scaled(self, factor):
        """Return the rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _unchanged(self):
        """Return the rates as they are."""
        return _param_groups_val_list(self.optimizer, "lr")


_LRScheduler = LRScheduler


def _notice_steps(optimizer):
    """Have an optimizer remember that its step was called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    owner, function = weakref.ref(optimizer), optimizer.step.__func__

    @functools.wraps(function)
    def step(*args, **kwargs):
        self = owner()
        self._opt_called = True
        return function.__get__(self, type(self))(*args, **kwargs)
    step._wrapped_by_lr_sched = True
    optimizer.step = step


class FunctionScheduler(LRScheduler):
    """A schedule by functions of the user, which checkpoints keep only if they are objects of classes."""

    def _set_functions(self, optimizer, lr_lambda):
        several = isinstance(lr_lambda, (list, tuple))
        if several and len(lr_lambda) != len(optimizer.param_groups):
            raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas = list(lr_lambda) if several else [lr_lambda] * len(optimizer.param_groups)

    def state_dict(self):
        """Return everything but the optimizer and plain functions."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [None if isinstance(item, types.FunctionType) else item.__dict__.copy()
                               for item in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update((key, value) for key, value in state_dict.items() if key != "lr_lambdas")
        for function, loaded in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if loaded is not None:
                function.__dict__.update(loaded)


class CompositeScheduler(LRScheduler):
    """A schedule made of others, which stand in `_schedulers`."""

    def _check_parts(self, schedulers, optimizer):
        name = type(self).__name__
        for index, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{name} at index {index} should have `optimizer` as its attribute.")
            if hasattr(part, "num_bad_epochs"):
                raise ValueError(f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                                 f"kwargs to be specified when calling `step`, but got one at index {index}")
            if part.optimizer is not optimizer:
                raise ValueError(f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                                 f"{type(part).__name__} at index {index} with another one")

    def state_dict(self):
        """Return everything but the optimizer, with the states of the parts."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        self.__dict__.update((key, value) for key, value in state_dict.items() if key != "_schedulers")
        for part, loaded in zip(self._schedulers, state_dict["_schedulers"]):
            part.load_state_dict(loaded)


def set_momentum(group, value, use_beta1):
    """Set the momentum of a group, or the first of its betas."""
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def start_momentum_cycle(scheduler, optimizer, base, top, last_epoch):
    """Return the lowest and highest momenta of a cycle, after they have been entered into the groups."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    scheduler.use_beta1 = "betas" in optimizer.defaults
    lowest, highest = _format_param("base_momentum", optimizer, base), _format_param("max_momentum", optimizer, top)
    if last_epoch == -1:
        for low, high, group in zip(lowest, highest, optimizer.param_groups):
            set_momentum(group, high, scheduler.use_beta1)
            group["max_momentum"] = high
            group["base_momentum"] = low
    return lowest, highest
