"""Optimizers: one call updates all parameters of a model."""
from dragon import _C
from dragon.core.refusals import refusing
from dragon.core.modes import no_grad
from dragon.tensor import ops


class Optimizer:
    """Hold parameters, what is remembered of each, and the numbers of the rule; the rule itself is an operator.

    Parameters
    ----------
    params : Iterable[Tensor]
        Leaves that gather gradients.
    rule : str
        The operator that makes one step.
    states : Sequence[Tuple[str, str, float]]
        For every list the operator wants after parameters and gradients: a name, what it holds for a parameter ("like":
        a tensor like it, "number": one number, "none": nothing), and the value it starts with.
    options : dict
        Named arguments of the operator; also attributes (`optimizer.options["lr"] = 0.1`).

    """

    def __init__(self, params, rule, states, options):
        self.params = list(params)
        for index, param in enumerate(self.params):
            if not isinstance(param, _C.Tensor) or not param.is_leaf:
                raise ValueError(f"{type(self).__name__}: got {type(param).__name__} as params[{index}], "
                                 "expected a leaf tensor")
        if not self.params:
            raise ValueError(f"{type(self).__name__}: got no parameters, expected at least one tensor")
        if not options["lr"] >= 0:
            raise ValueError(f"{type(self).__name__}: got lr = {options['lr']}, expected at least 0")
        self.rule = getattr(ops, rule)
        self.states = tuple(states)
        self.options = dict(options)
        self.kept = [None] * len(self.params)  # per parameter, its states in the rule's order

    @property
    def lr(self):
        """The learning rate."""
        return self.options["lr"]

    @lr.setter
    def lr(self, value):
        self.options["lr"] = value

    def zero_grad(self):
        """Forget the gradients of all parameters."""
        for param in self.params:
            param.grad = None

    def step(self):
        """Update every parameter that has a gradient."""
        places = [index for index, param in enumerate(self.params) if param.grad is not None]
        fresh = [index for index in places if self.kept[index] is None]
        for index in fresh:
            self.kept[index] = [self._start(self.params[index], kind, value) for _, kind, value in self.states]
        self._update(places, fresh)

    def _start(self, param, kind, value):
        if kind == "none":
            return None
        if kind == "like":
            return ops.full_like(param.detach(), value)
        return ops.full((), value, dtype="float32")

    def _update(self, places, fresh, **more):
        params = [self.params[index] for index in places]
        kept = [self.kept[index] for index in places]
        lists = [[] if kind == "none" else [states[at] for states in kept]
                 for at, (_, kind, _) in enumerate(self.states)]
        with no_grad():
            self.rule(params, [param.grad for param in params], *lists, **self.options, **more)

    def state_dict(self):
        """Return the options, and the states of every parameter by name; the memory is shared."""
        names = [name for name, _, _ in self.states]
        return {"options": dict(self.options),
                "states": [None if kept is None else dict(zip(names, kept)) for kept in self.kept]}

    def load_state_dict(self, state):
        """Go on from what `state_dict` returned; the states are copied."""
        if len(state["states"]) != len(self.params):
            raise ValueError(f"load_state_dict: got the states of {len(state['states'])} parameters, "
                             f"expected {len(self.params)}")
        self.options.update(state["options"])
        self.kept = [None if kept is None else
                     [None if kept[name] is None else ops.clone(kept[name]) for name, _, _ in self.states]
                     for kept in state["states"]]


def like(name, value=0.0):
    """Return the description of a state that has the shape of its parameter."""
    return name, "like", value


def number(name, value=0.0):
    """Return the description of a state that is one number per parameter."""
    return name, "number", value


def like_if(wanted, name):
    """Return the description of a state that only some options need."""
    return name, "like" if wanted else "none", 0.0


# What rules call the numbers of a pair.
PAIRS = {"betas": ("beta1", "beta2"), "etas": ("etaminus", "etaplus"), "step_sizes": ("smallest", "largest")}


def given(arguments, *others):
    """Return the options of a rule: the arguments of a constructor, its `locals()`, but some that are for others."""
    options = {}
    for name, value in arguments.items():
        if name not in ("self", "params", "__class__", *others):
            options.update(zip(PAIRS[name], value) if name in PAIRS else {name: value})
    return options


class SGD(Optimizer):
    """Gradient descent, with momentum (Nesterov's or plain) and weight decay.

    Parameters
    ----------
    params : Iterable[Tensor]
        Leaves that gather gradients.
    lr : float
        The learning rate.
    momentum : float, optional, default=0.0
        How much of the last step is kept.
    dampening : float, optional, default=0.0
        How much of the gradient does not enter the momentum.
    weight_decay : float, optional, default=0.0
        How much of the parameter is added to its gradient.
    nesterov : bool, optional, default=False
        Whether to look ahead along the momentum.
    maximize : bool, optional, default=False
        Whether to step upwards.

    Examples
    --------
    >>> weight = dragon.tensor([1.0], requires_grad=True)
    >>> optimizer = dragon.optimizers.SGD([weight], lr=0.25)
    >>> (weight ** 2).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    Tensor([0.5])

    """

    def __init__(self, params, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
        super().__init__(params, "sgd_step", [like_if(momentum != 0, "momentum_buffer")],
                         given(locals()))

    def _update(self, places, fresh, **more):
        """Parameters seen for the first time start their momentum with the undampened gradient."""
        known = set(places) - set(fresh)
        if fresh:
            super()._update(fresh, fresh, first=True)
        if known:
            super()._update(sorted(known), (), first=False)


class ASGD(Optimizer):
    """Gradient descent whose iterates are also averaged (state "average")."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0, maximize=False):
        super().__init__(params, "asgd_step",
                         [like("average"), number("eta", lr), number("mu", 1.0), number("step")], given(locals()))


class Rprop(Optimizer):
    """Resilient propagation: step sizes of their own, by the signs of successive gradients; for full batches."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50.0), maximize=False):
        super().__init__(params, "rprop_step", [like("previous"), like("step_size", lr)], given(locals()))

    def _update(self, places, fresh, **more):
        """The rate is where step sizes start; the rule itself has none."""
        rate = self.options.pop("lr")
        try:
            super()._update(places, fresh)
        finally:
            self.options["lr"] = rate


class Adam(Optimizer):
    """Adam; weight decay is part of the gradient.

    Parameters
    ----------
    params : Iterable[Tensor]
        Leaves that gather gradients.
    lr : float, optional, default=0.001
        The learning rate.
    betas : Tuple[float, float], optional, default=(0.9, 0.999)
        How much of the running means is kept at each step.
    eps : float, optional, default=1e-08
        Added to the denominator.
    weight_decay : float, optional, default=0.0
        How much of the parameter is added to its gradient.
    amsgrad : bool, optional, default=False
        Whether to scale by the largest mean square so far.
    maximize : bool, optional, default=False
        Whether to step upwards.

    Examples
    --------
    >>> weight = dragon.tensor([1.0], requires_grad=True)
    >>> optimizer = dragon.optimizers.Adam([weight], lr=0.1)
    >>> (weight ** 2).sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    Tensor([0.9])

    """

    decoupled = False

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False):
        super().__init__(params, "adam_step",
                         [like("exp_avg"), like("exp_avg_sq"), like_if(amsgrad, "max_exp_avg_sq"), number("step")],
                         {**given(locals()), "decoupled": self.decoupled})


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters themselves."""

    decoupled = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, maximize=False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)


class NAdam(Optimizer):
    """Adam with Nesterov's momentum."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3,
                 decoupled=False, maximize=False):
        super().__init__(params, "nadam_step",
                         [like("exp_avg"), like("exp_avg_sq"), number("mu_product", 1.0), number("step")],
                         given(locals()))


class RAdam(Optimizer):
    """Adam whose adaptive rate waits until its variance is known."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False,
                 maximize=False):
        super().__init__(params, "radam_step", [like("exp_avg"), like("exp_avg_sq"), number("step")], given(locals()))


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean square."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, maximize=False):
        super().__init__(params, "adamax_step", [like("exp_avg"), like("exp_inf"), number("step")], given(locals()))


class LAMB(Optimizer):
    """Adam for large batches: the step of every tensor is as long as the tensor, times the rate."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, maximize=False):
        super().__init__(params, "lamb_step", [like("exp_avg"), like("exp_avg_sq"), number("step")], given(locals()))


class RMSprop(Optimizer):
    """Gradient descent scaled by the running root mean square of the gradient."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False,
                 maximize=False):
        super().__init__(params, "rmsprop_step",
                         [like("square_avg"), like_if(momentum > 0, "momentum_buffer"), like_if(centered, "grad_avg")],
                         given(locals()))


class Adagrad(Optimizer):
    """Gradient descent scaled by the root of all squared gradients so far."""

    def __init__(self, params, lr=1e-2, lr_decay=0.0, weight_decay=0.0, initial=0.0, eps=1e-10, maximize=False):
        super().__init__(params, "adagrad_step", [like("sum", initial), number("step")], given(locals(), "initial"))


class Adadelta(Optimizer):
    """Gradient descent in units of earlier updates."""

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0, maximize=False):
        super().__init__(params, "adadelta_step", [like("square_avg"), like("acc_delta")], given(locals()))


@refusing
def clip_grad_norm(params, max_norm, p=2.0, error_if_nonfinite=False):
    """Scale the gradients of parameters so that their common norm is at most `max_norm`.

    Parameters
    ----------
    params : Iterable[Tensor]
        Parameters; those without a gradient do not count.
    max_norm : float
        The most the norm may be.
    p : float, optional, default=2.0
        Which norm; infinity for the largest magnitude.
    error_if_nonfinite : bool, optional, default=False
        Whether a norm that is NaN or infinite is an error.

    Returns
    -------
    Tensor
        The norm before.

    """
    grads = [param.grad for param in params if param.grad is not None]
    with no_grad():
        return ops.clip_grad_norm(grads, max_norm, p, error_if_nonfinite)


@refusing
def clip_grad_value(params, limit):
    """Bring every number of the gradients of parameters into [-limit, limit]."""
    with no_grad():
        for param in params:
            if param.grad is not None:
                ops.clamp(param.grad, -limit, limit, out=param.grad)
