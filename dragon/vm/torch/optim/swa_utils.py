"""Averages of a model's weights over training."""
import itertools
import math
from copy import deepcopy

from dragon.vm.guest import lookup
from dragon.vm.torch.autograd.grad_mode import no_grad
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._schedules import LRScheduler, _format_param


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _inexact(tensor):
    return tensor.dtype.is_floating_point or tensor.dtype.is_complex


def _number(value):
    return value.item() if hasattr(value, "item") else value


def get_ema_multi_avg_fn(decay=0.999):
    """Return a function that moves lists of averages towards parameters, by 1 - `decay` of the way."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if _inexact(average):
                ops.add_(average, current - average, alpha=1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))
    return ema_update


def get_swa_multi_avg_fn():
    """Return a function that enters parameters into lists of their equal averages."""
    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        count = _number(num_averaged) + 1
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if _inexact(average):
                ops.add_(average, current - average, alpha=1 / count)
            else:
                average.copy_(average + (current - average) / count)
    return swa_update


def get_ema_avg_fn(decay=0.999):
    """Return a function from an average and a parameter to the next average, 1 - `decay` of the way on."""
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param
    return ema_update


def get_swa_avg_fn():
    """Return a function from an equal average and a parameter to the next average."""
    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)
    return swa_update


def _make_averaged_model():
    """Return the class `AveragedModel`; made when first asked for, since it needs `torch.nn`."""
    from dragon.vm.torch.core.dtypes import OBJECTS
    from dragon.vm.torch.core.functions.creation import tensor
    from dragon.vm.torch.nn import Module

    class AveragedModel(Module):
        """A copy of a model whose weights are averages.

        Parameters
        ----------
        model : Module
            What is copied.
        device : Union[device, str], optional
            Where the averages live.
        avg_fn : Callable, optional
            From (average, parameter, number of averaged models) to the next average; equal weights by default.
        multi_avg_fn : Callable, optional
            The same for lists, in place.
        use_buffers : bool, optional, default=False
            Whether buffers are averaged too, or copied.

        """

        def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
            super().__init__()
            if avg_fn is not None and multi_avg_fn is not None:
                raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
            self.module = deepcopy(model)
            if device is not None:
                self.module = self.module.to(device)
            self.register_buffer("n_averaged", tensor(0, dtype=OBJECTS["int64"], device=device))
            self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

        def forward(self, *args, **kwargs):
            """Return what the averaged model makes of the arguments."""
            return self.module(*args, **kwargs)

        def update_parameters(self, model):
            """Enter the weights of a model into the averages."""
            mine, theirs = self._averaged(self.module), self._averaged(model)
            theirs = [item.to(average.device) for average, item in zip(mine, theirs)]
            if self.n_averaged == 0:
                for average, current in zip(mine, theirs):
                    average.copy_(current)
            elif self.avg_fn is not None:
                for average, current in zip(mine, theirs):
                    average.copy_(self.avg_fn(average, current, self.n_averaged.to(average.device)))
            else:
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                for kind in dict.fromkeys((item.device, item.dtype) for item in mine):
                    pairs = [(average, current) for average, current in zip(mine, theirs)
                             if (average.device, average.dtype) == kind]
                    update([pair[0] for pair in pairs], [pair[1] for pair in pairs], self.n_averaged.to(kind[0]))
            if not self.use_buffers:
                for average, current in zip(self.module.buffers(), model.buffers(), strict=True):
                    average.detach().copy_(current.detach().to(average.device))
            self.n_averaged += 1

        def _averaged(self, model):
            found = model.parameters()
            if self.use_buffers:
                found = itertools.chain(found, model.buffers())
            return [item.detach() for item in found]

    AveragedModel.__module__ = __name__
    AveragedModel.__qualname__ = "AveragedModel"
    return AveragedModel


@no_grad()
def update_bn(loader, model, device=None):
    """Compute the running statistics of a model's batch normalizations anew.

    Parameters
    ----------
    loader : Iterable
        Batches, or lists whose first item is one.
    model : Module
        Whose statistics are computed.
    device : Union[device, str], optional
        Where batches are moved first.

    """
    from dragon.vm.torch.nn.modules.batchnorm import _BatchNorm
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Go from the rates of the groups to `swa_lr` in `anneal_epochs` steps, and stay there.

    Parameters
    ----------
    swa_lr : Union[float, List[float]]
        The rate for averaging.
    anneal_epochs : int, optional, default=10
        How many steps it takes.

    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for rate, group in zip(_format_param("swa_lr", optimizer, swa_lr), optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _linear_anneal(t):
        return t

    @staticmethod
    def _cosine_anneal(t):
        return (1 - math.cos(math.pi * t)) / 2

    def _set_anneal_func(self, anneal_strategy):
        self._anneal_strategy = anneal_strategy
        self.anneal_func = self._cosine_anneal if anneal_strategy == "cos" else self._linear_anneal

    def _share(self, step):
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self):
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, share = self._share(step - 1), self._share(step)
        found = []
        for group in self.optimizer.param_groups:
            # What the rate would be without the averaging, since others may change it too.
            rest = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            found.append(group["swa_lr"] * share + rest * (1 - share))
        return found

    def state_dict(self):
        return {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)


_find, __dir__ = lookup(globals())


def __getattr__(name):
    if name == "AveragedModel":
        globals()[name] = _make_averaged_model()
        return globals()[name]
    return _find(name)
