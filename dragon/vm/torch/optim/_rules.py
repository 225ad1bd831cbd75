"""Optimizers whose step is one operator of the engine, over all parameters of a group at once."""
from dragon import _C
from dragon.core import modes
from dragon.core.capture.recording import symbol
from dragon.core.capture.settings import captures
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.dispatching.mode_stack import dispatch_modes
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.sparse.parts import is_sparse
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim._differentiable import step as step_recorded
from dragon.vm.torch.optim.optimizer import Optimizer, _get_scalar_dtype, _get_value


def check(who, **bounds):
    """Raise ValueError for an option outside `[low, high)`: given as `name=(value, low, high)`."""
    for name, (value, low, high) in bounds.items():
        if isinstance(value, _C.Tensor) and value.numel() != 1:
            raise ValueError(f"Tensor {name} must be 1-element, got {tuple(value.shape)}")
        if not low <= value or (high is not None and not value < high):
            said = {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")
            upper = "" if high is None else f" and below {high}"
            raise ValueError(f"Invalid {said}: {value} ({who} expects at least {low}{upper})")


def check_betas(who, betas):
    """Raise ValueError for rates of averaging outside [0, 1)."""
    for index in (0, 1):
        if not 0.0 <= betas[index] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]} ({who} expects [0, 1))")


class RuleOptimizer(Optimizer):
    """An optimizer with a rule of the engine.

    Subclasses say: `rule`, the operator; `lists`, which states it wants after parameters and gradients, where a name
    that `has` denies stands for an empty list; and `start`, how a parameter's states begin if not with zeros.
    """

    rule = None
    lists = ()
    counts = False  # whether steps are counted here, because the rule does not

    def __init__(self, params, defaults):
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        lr = defaults["lr"]
        if isinstance(lr, _C.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self.defaults.items():
                group.setdefault(name, value)
            for param in group["params"]:
                # Checkpoints of old have plain numbers here.
                kept = self.state.get(param)
                if kept and "step" in kept and not isinstance(kept["step"], _C.Tensor):
                    kept["step"] = number(kept["step"])

    def has(self, name, group):
        """Return whether a state is there with a group's options."""
        return True

    def start(self, state, param, group):
        """Fill in a parameter's states before its first step."""
        state["step"] = number(0.0)
        for name in self.lists:
            if name != "step" and self.has(name, group):
                state[name] = zeros(param)

    def options(self, group):
        """Return the rule's named arguments."""
        raise NotImplementedError

    def step(self, closure=None):
        """Update every parameter that has a gradient.

        Parameters
        ----------
        closure : Callable, optional
            Computes the loss again, and its gradients.

        Returns
        -------
        Optional[Any]
            What `closure` returned.

        """
        loss = None
        if closure is not None:
            with ExitStack() as exits:
                exits.switch(modes.set_recording, True)
                loss = closure()
        recorded = bool(self.defaults.get("differentiable"))
        with ExitStack() as exits:
            exits.switch(modes.set_recording, recorded)
            for group in self.param_groups:
                (step_recorded if recorded or is_heard(group) else type(self).update)(self, group)
        return loss

    def update(self, group):
        """Make one step with the parameters of a group."""
        params, grads = [], []
        for param in group["params"]:
            grad = param.grad
            if grad is not None:
                params.append(param)
                grads.append(grad)
        if not params:
            return
        if any([is_sparse(grad) for grad in grads]):
            params, grads = self.step_sparse(params, grads, group)
            if not params:
                return
        state = self.state
        states = [state[param] for param in params]
        for param, kept in zip(params, states):
            if not kept:
                self.start(kept, param, group)
        lists = [[kept[name] for kept in states] if self.has(name, group) else [] for name in self.lists]
        if self.counts:
            for kept in states:
                kept["step"] += 1
        self.run(params, grads, lists, self.options(group))

    def step_sparse(self, params, grads, group):
        """Make the steps of parameters with sparse gradients; returns the other parameters and gradients.

        Optimizers that know what to do with them have their own.
        """
        name = "Adam" if type(self).__name__ == "AdamW" else type(self).__name__
        hint = ", please consider SparseAdam instead" if name == "Adam" else ""
        raise RuntimeError(f"{name} does not support sparse gradients{hint}")

    def run(self, params, grads, lists, options):
        """Call the rule; complex numbers are pairs of real ones to it."""
        if any([param.dtype.is_complex for param in params]):
            params, grads, *lists = ([ops.view_as_real(item) if item.dtype.is_complex else item for item in items]
                                     for items in (params, grads, *lists))
        self.rule(params, grads, *lists, **options)


def is_heard(group):
    """Return whether modes hear operators: the engine's rule is none of PyTorch's, so steps are made of those then."""
    return bool(dispatch_modes()) and not any(param.grad is not None and is_sparse(param.grad)
                                              for param in group["params"])


def number(value):
    """Return a state that is one number: a tensor without axes."""
    return ops.full((), float(value), dtype=_get_scalar_dtype())


def zeros(param, value=0.0):
    """Return a state with the shape and order in memory of a parameter."""
    param = param.detach()
    return ops.full_like(param, complex(value, value) if param.dtype.is_complex and value else value)


def rate(group):
    """Return a group's learning rate as a number, which graphs read anew at each run."""
    return number_of(group, "lr")


def number_of(group, name):
    """Return an option of a group as a number, which graphs read anew at each run."""
    value = group[name]
    if type(value) is float:
        return symbol(group, name) if captures() else value
    return float(_get_value(value))


def adam_options(group, *more):
    """Return what Adam and its kin share."""
    beta1, beta2 = group["betas"]
    options = {"lr": rate(group), "beta1": float(beta1), "beta2": float(beta2), "eps": group["eps"],
               "weight_decay": number_of(group, "weight_decay"), "maximize": group["maximize"]}
    for name in more:
        options[name] = group[name]
    return options


FLOAT32 = OBJECTS["float32"]
