"""`PassManager`: run passes in an order that keeps to constraints."""
import functools
import inspect

from dragon.vm.torch.fx.passes.infra.pass_base import PassResult
from dragon.vm.torch.nn.modules.module import Module


def pass_result_wrapper(fn):
    """Return a pass that returns a PassResult, of a function that returns a module, or None for the one it got."""
    if fn is None:
        return None

    @functools.wraps(fn)
    def wrapped(gm):
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)
    if not inspect.isfunction(fn):
        wrapped.__name__ = type(fn).__name__
    return wrapped


def this_before_that_pass_constraint(this, that):
    """Return a constraint: one pass runs before another."""
    def constraint(a, b):
        return not (a == that and b == this)
    return constraint


def _validate_pass_schedule_constraint(constraint, passes):
    for place, first in enumerate(passes):
        for distance, second in enumerate(passes[place + 1:]):
            if not constraint(first, second):
                raise RuntimeError(f"pass schedule constraint violated. Expected {first} before {second} but found "
                                   f"{first} at index {place} and {second} at index {place + 1 + distance} in pass "
                                   "list.")


def _topological_sort_passes(passes, constraints):
    """Return passes in an order that keeps to constraints, as near to theirs as can be."""
    if not constraints:
        return passes
    after = {one: [other for other in passes if other is not one
                   and not all(constraint(one, other) for constraint in constraints)] for one in passes}
    done, left = [], list(passes)
    while left:
        ready = next((one for one in left if all(other in done for other in after[one])), None)
        if ready is None:
            raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
        left.remove(ready)
        done.append(ready)
    return done


class PassManager:
    """Run passes over a module.

    Parameters
    ----------
    passes : List[Callable], optional
        Each takes a module, and returns a PassResult.
    constraints : List[Callable[[Callable, Callable], bool]], optional
        Whether one pass may run before another.
    steps : int, optional, default=1
        How many times at most; a round that changes nothing is the last.
    run_checks_after_each_pass : bool, optional, default=False
        Check the module after each pass.
    suppress_check_failures : bool, optional, default=False
        Failures of checks are not raised.

    """

    passes, constraints, steps = [], [], 1
    _validated = False

    def __init__(self, passes=None, constraints=None, steps=None, run_checks_after_each_pass=False,
                 suppress_check_failures=False):
        self.passes, self.constraints = list(passes or []), list(constraints or [])
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._checks = []

    def add_pass(self, _pass):
        """Add a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint):
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self):
        """Raise where the order of the passes does not keep to the constraints."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self):
        """Put the passes into an order that keeps to the constraints."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check):
        """Add a function of a module that raises where something is wrong."""
        if not callable(check):
            raise TypeError(f"{check} is not a callable object")
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self._checks.append(check)

    def check(self, module):
        """Check a module."""
        for check in self._checks:
            try:
                check(module)
            except Exception:
                if not self.suppress_check_failures:
                    raise

    def __call__(self, module):
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified, before = False, []
            for one in self.passes:
                name = getattr(one, "__name__", None) or type(one).__name__
                try:
                    result = one(module)
                    if not isinstance(result, PassResult) or not isinstance(result.graph_module, Module):
                        raise TypeError(f"The result of the pass {name} should be type PassResult. Please wrap it with "
                                        "pass_result_wrapper()")
                except Exception as error:
                    raise Exception(
                        f"An error occurred when running the '{name}' pass after the following passes: "
                        f"{before}") from error
                module, modified = result.graph_module, modified or result.modified
                if self.run_checks_after_each_pass:
                    self.check(module)
                before.append(name)
            changed = changed or modified
            if not modified:
                break
        return PassResult(module, changed)
