"""Steps that are recorded, for `differentiable=True`: each rule once more, with operators that have gradients.

A rule is a function of a parameter, its gradient, its states by name and its group's options; it writes into the
parameter and returns the states as they are then.
"""
from dragon.vm.torch.core.tensor import ops

RULES = {}


def _rule(name):
    def register(function):
        RULES[name] = function
        return function
    return register


def step(optimizer, group):
    """Make one step with the parameters of a group, recorded."""
    rule = RULES[optimizer.rule.__name__]
    for param in group["params"]:
        grad = param.grad
        if grad is None:
            continue
        kept = optimizer.state[param]
        if not kept and optimizer.lists:
            optimizer.start(kept, param, group)
        if "step" in kept:
            kept["step"] = kept["step"] + 1
        kept.update(rule(param, -grad if group["maximize"] else grad, kept, group))


def _decayed(param, grad, group):
    """Return a gradient with the parameter's own part, where decay is not decoupled from it."""
    decay = group["weight_decay"]
    if group.get("decoupled_weight_decay"):
        if decay:
            param.mul_(1 - group["lr"] * decay)
        return grad
    return grad + decay * param if decay else grad


def _count(kept):
    """Return how many steps there were, in full precision."""
    return kept["step"].item()


def _square(grad):
    return grad * grad.conj() if grad.dtype.is_complex else grad * grad


def _moments(kept, grad, group):
    """Return (mean, mean square, one less a power of each rate) of gradients."""
    beta1, beta2 = group["betas"]
    mean = kept["exp_avg"] + (grad - kept["exp_avg"]) * (1 - beta1)
    square = kept["exp_avg_sq"] * beta2 + _square(grad) * (1 - beta2)
    count = _count(kept)
    return mean, square, 1 - beta1 ** count, 1 - beta2 ** count


@_rule("sgd_step")
def _sgd(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    found = {}
    if group["momentum"]:
        before = kept.get("momentum_buffer")
        # As in PyTorch, what the momentum starts with is no part of the graph.
        moved = (grad.detach().clone() if before is None
                 else group["momentum"] * before + (1 - group["dampening"]) * grad)
        found["momentum_buffer"] = moved
        grad = grad + group["momentum"] * moved if group["nesterov"] else moved
    param.sub_(group["lr"] * grad)
    return found


@_rule("adam_step")
def _adam(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    mean, square, first, second = _moments(kept, grad, group)
    found = {"exp_avg": mean, "exp_avg_sq": square}
    if group["amsgrad"]:
        square = found["max_exp_avg_sq"] = ops.maximum(kept["max_exp_avg_sq"], square)
    param.sub_(group["lr"] / first * mean / (square.sqrt() / second ** 0.5 + group["eps"]))
    return found


@_rule("adamax_step")
def _adamax(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    beta1, beta2 = group["betas"]
    mean = kept["exp_avg"] + (grad - kept["exp_avg"]) * (1 - beta1)
    largest = ops.maximum(kept["exp_inf"] * beta2, grad.abs() + group["eps"])
    param.sub_(group["lr"] / (1 - beta1 ** _count(kept)) * mean / largest)
    return {"exp_avg": mean, "exp_inf": largest}


@_rule("nadam_step")
def _nadam(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    mean, square, _, second = _moments(kept, grad, group)

    def mu(count):
        return group["betas"][0] * (1 - 0.5 * 0.96 ** (count * group["momentum_decay"]))
    now, following = mu(_count(kept)), mu(_count(kept) + 1)
    product = kept["mu_product"] * now
    spread = (square / second).sqrt() + group["eps"]
    param.sub_(group["lr"] * (1 - now) / (1 - product) * grad / spread)
    param.sub_(group["lr"] * following / (1 - product * following) * mean / spread)
    return {"exp_avg": mean, "exp_avg_sq": square, "mu_product": product}


@_rule("radam_step")
def _radam(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    mean, square, first, second = _moments(kept, grad, group)
    beta2, count = group["betas"][1], _count(kept)
    most = 2 / (1 - beta2) - 1
    length = most - 2 * count * beta2 ** count / second
    change = mean / first
    if length > 5:
        scale = ((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) ** 0.5
        change = change * scale * second ** 0.5 / (square.sqrt() + group["eps"])
    param.sub_(group["lr"] * change)
    return {"exp_avg": mean, "exp_avg_sq": square}


@_rule("adagrad_step")
def _adagrad(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    total = kept["sum"] + _square(grad)
    rate = group["lr"] / (1 + (_count(kept) - 1) * group["lr_decay"])
    param.sub_(rate * grad / (total.sqrt() + group["eps"]))
    return {"sum": total}


@_rule("adadelta_step")
def _adadelta(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    rho, eps = group["rho"], group["eps"]
    square = kept["square_avg"] * rho + _square(grad) * (1 - rho)
    change = (kept["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * grad
    param.sub_(group["lr"] * change)
    return {"square_avg": square, "acc_delta": kept["acc_delta"] * rho + _square(change) * (1 - rho)}


@_rule("rmsprop_step")
def _rmsprop(param, grad, kept, group):
    grad, alpha = _decayed(param, grad, group), group["alpha"]
    square = kept["square_avg"] * alpha + _square(grad) * (1 - alpha)
    found, variance = {"square_avg": square}, square
    if group["centered"]:
        mean = found["grad_avg"] = kept["grad_avg"] + (grad - kept["grad_avg"]) * (1 - alpha)
        variance = square - mean * mean
    change = grad / (variance.sqrt() + group["eps"])
    if group["momentum"] > 0:
        change = found["momentum_buffer"] = kept["momentum_buffer"] * group["momentum"] + change
    param.sub_(group["lr"] * change)
    return found


@_rule("rprop_step")
def _rprop(param, grad, kept, group):
    (less, more), (smallest, largest) = group["etas"], group["step_sizes"]
    agreement = (grad * kept["prev"]).sign()
    factor = ops.where(agreement > 0, more, ops.where(agreement < 0, less, 1.0)).to(grad.dtype)
    size = (kept["step_size"] * factor).clamp(smallest, largest)
    grad = ops.where(agreement < 0, ops.zeros_like(grad), grad)
    param.sub_(grad.sign() * size)
    return {"prev": grad, "step_size": size}


@_rule("asgd_step")
def _asgd(param, grad, kept, group):
    grad = _decayed(param, grad, group)
    count = kept["step"]
    param.mul_(1 - group["lambd"] * kept["eta"])
    param.sub_(kept["eta"] * grad)
    mean = kept["ax"] + (param - kept["ax"]) * kept["mu"]
    eta = group["lr"] / (1 + group["lambd"] * group["lr"] * count) ** group["alpha"]
    return {"ax": mean, "eta": eta, "mu": 1 / (count - group["t0"]).clamp(min=1)}
