"""L-BFGS: steps by an estimate of the curvature, from the last gradients and steps."""
from dragon.core import modes
from dragon.core.scopes import ExitStack
from dragon.vm.torch.core.sparse.parts import is_sparse
from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.optim.optimizer import Optimizer, _to_scalar, _use_grad_for_differentiable


class LBFGS(Optimizer):
    """Minimize by the limited-memory BFGS method; one group of parameters only.

    Parameters
    ----------
    params : Iterable[Tensor]
        Parameters.
    lr : Union[float, Tensor], optional, default=1
        The length of a step, or where a line search starts.
    max_iter : int, optional, default=20
        Iterations per step.
    max_eval : int, optional
        Evaluations of the closure per step; by default 1.25 * max_iter.
    tolerance_grad : float, optional, default=1e-7
        Stop when no gradient is larger.
    tolerance_change : float, optional, default=1e-9
        Stop when parameters or loss change less.
    history_size : int, optional, default=100
        How many steps are remembered.
    line_search_fn : str, optional
        "strong_wolfe", or None for steps of length `lr`.

    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        if not 0.0 <= _to_scalar(lr):
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self):
        """Return all gradients as one vector."""
        parts = []
        for param in self._params:
            part = ops.zeros_like(param.detach()) if param.grad is None else param.grad.detach()
            part = part.to_dense() if is_sparse(part) else part
            part = ops.view_as_real(part) if part.dtype.is_complex else part
            parts.append(ops.reshape(part, (-1,)))
        return ops.cat(parts)

    def _move(self, length, direction):
        """Move the parameters along a direction."""
        offset = 0
        for param in self._params:
            real = ops.view_as_real(param) if param.dtype.is_complex else param
            count = real.numel()
            ops.add_(real, ops.reshape(direction[offset:offset + count], tuple(real.shape)), alpha=float(length))
            offset += count

    def _evaluate(self, closure, start, length, direction):
        """Return loss and gradient at a point on a line, and come back to its start."""
        self._move(length, direction)
        loss = float(closure())
        gradient = self._flat_grad()
        for param, before in zip(self._params, start):
            param[...] = before
        return loss, gradient

    @_use_grad_for_differentiable
    def step(self, closure):
        """Minimize for up to `max_iter` iterations.

        Parameters
        ----------
        closure : Callable
            Computes the loss again, and its gradients.

        Returns
        -------
        Any
            What `closure` returned at first.

        """
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        group = self.param_groups[0]
        closure = _recording(closure)
        # The state is one for all; it stands at the first parameter, where loading finds it.
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        state["func_evals"] += 1
        gradient = self._flat_grad()
        if ops.max(ops.abs(gradient)) <= group["tolerance_grad"]:
            return first_loss
        self._iterate(closure, state, group, float(first_loss), gradient)
        return first_loss

    def _iterate(self, closure, state, group, loss, gradient):
        """Step until done; leave what the next call needs in the state."""
        rate, evaluations = _to_scalar(group["lr"]), 1
        kept = {name: state.get(name) for name in ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad",
                                                   "prev_loss")}
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            self._choose_direction(state, kept, gradient, group["history_size"])
            kept["prev_flat_grad"] = ops.clone(gradient)
            kept["prev_loss"] = loss
            first = state["n_iter"] == 1
            kept["t"] = min(1.0, 1.0 / ops.sum(ops.abs(gradient))) * rate if first else rate
            slope = ops.dot(gradient, kept["d"])
            if slope > -group["tolerance_change"]:
                break
            last = iteration == group["max_iter"]
            loss, gradient, spent = self._advance(closure, kept, group, loss, gradient, slope,
                                                  group["max_eval"] - evaluations, last)
            evaluations += spent
            state["func_evals"] += spent
            if last or evaluations >= group["max_eval"] or \
                    ops.max(ops.abs(gradient)) <= group["tolerance_grad"] or \
                    ops.max(ops.abs(kept["d"] * kept["t"])) <= group["tolerance_change"] or \
                    abs(loss - kept["prev_loss"]) < group["tolerance_change"]:
                break
        state.update(kept)

    def _choose_direction(self, state, kept, gradient, history_size):
        """Set the direction: minus the gradient times the estimated inverse of the Hessian."""
        if state["n_iter"] == 1:
            kept.update(d=ops.neg(gradient), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return
        turns, steps, ro = kept["old_dirs"], kept["old_stps"], kept["ro"]
        turn = gradient - kept["prev_flat_grad"]
        step = kept["d"] * kept["t"]
        curvature = ops.dot(turn, step)
        if curvature > 1e-10:
            if len(turns) == history_size:
                for history in (turns, steps, ro):
                    history.pop(0)
            turns.append(turn)
            steps.append(step)
            ro.append(1.0 / curvature)
            kept["H_diag"] = curvature / ops.dot(turn, turn)
        shares = state.setdefault("al", [None] * history_size)
        found = ops.neg(gradient)
        for index in reversed(range(len(turns))):
            shares[index] = ops.dot(steps[index], found) * ro[index]
            ops.sub_(found, turns[index], alpha=float(shares[index]))
        found = found * kept["H_diag"]
        for index in range(len(turns)):
            back = ops.dot(turns[index], found) * ro[index]
            ops.add_(found, steps[index], alpha=float(shares[index] - back))
        kept["d"] = found

    def _advance(self, closure, kept, group, loss, gradient, slope, budget, last):
        """Move along the direction; return the loss and gradient there, and how often the closure was called."""
        search = group["line_search_fn"]
        if search is None:
            self._move(kept["t"], kept["d"])
            if last:
                return loss, gradient, 0
            loss = float(closure())
            return loss, self._flat_grad(), 1
        if search != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = [ops.clone(param) for param in self._params]

        def evaluate(length):
            return self._evaluate(closure, start, length, kept["d"])
        loss, gradient, kept["t"], spent = _strong_wolfe(evaluate, kept["t"], kept["d"], loss, gradient, slope, budget)
        self._move(kept["t"], kept["d"])
        return loss, gradient, spent


def _recording(closure):
    """Return a closure that records, whatever is switched around it."""
    def call():
        with ExitStack() as exits:
            exits.switch(modes.set_recording, True)
            return closure()
    return call


class _Point:
    """A point on the line: how far, the loss, its gradient and its slope along the line."""

    def __init__(self, t, loss, gradient, slope):
        self.t, self.loss, self.gradient, self.slope = t, loss, gradient, slope


def _interpolate(one, other, bounds=None):
    """Return where the cubic through two points with slopes is smallest, within bounds."""
    low, high = bounds or ((one.t, other.t) if one.t <= other.t else (other.t, one.t))
    first = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.t - other.t)
    square = first ** 2 - one.slope * other.slope
    if not square >= 0:  # nor where it is not a number
        return (low + high) / 2.0
    root = ops.sqrt(square)
    if not one.t <= other.t:
        one, other = other, one
    place = other.t - (other.t - one.t) * ((other.slope + root - first) / (other.slope - one.slope + 2 * root))
    return min(max(place, low), high)


def _strong_wolfe(evaluate, t, direction, loss, gradient, slope, budget, decrease=1e-4, curvature=0.9,
                  tolerance_change=1e-9):
    """Return (loss, gradient, length, evaluations) of a step that fulfils the strong Wolfe conditions."""
    size = ops.max(ops.abs(direction))
    start = _Point(0, loss, ops.clone(gradient), slope)

    def look(length):
        found_loss, found = evaluate(length)
        return _Point(length, found_loss, found, ops.dot(found, direction))

    def too_high(point):
        return point.loss > loss + decrease * point.t * slope

    before, point, tries, done = start, look(t), 0, False
    while tries < budget:
        if too_high(point) or (tries > 1 and point.loss >= before.loss):
            bracket = [before, point]
            break
        if abs(point.slope) <= -curvature * slope:
            bracket, done = [point], True
            break
        if point.slope >= 0:
            bracket = [before, point]
            break
        further = _interpolate(before, point, (point.t + 0.01 * (point.t - before.t), point.t * 10))
        before, point, tries = point, look(further), tries + 1
    else:
        bracket = [start, point]
    evaluations = tries + 1
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    stuck = False
    while not done and tries < budget:
        one, other = bracket
        if abs(other.t - one.t) * size < tolerance_change:
            break
        length, stuck = _keep_off_ends(_interpolate(one, other), one.t, other.t, stuck)
        point = look(length)
        evaluations, tries = evaluations + 1, tries + 1
        if too_high(point) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        if abs(point.slope) <= -curvature * slope:
            done = True
        elif point.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
    best = bracket[low]
    return best.loss, best.gradient, best.t, evaluations


def _keep_off_ends(length, one, other, stuck):
    """Return a trial length that makes progress, and whether the next one near an end is to be moved."""
    least, most = min(one, other), max(one, other)
    margin = 0.1 * (most - least)
    if min(most - length, length - least) >= margin:
        return length, False
    if stuck or length >= most or length <= least:
        return (most - margin if abs(length - most) < abs(length - least) else least + margin), False
    return length, True
