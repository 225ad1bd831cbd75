"""What branches and rounds of loops must agree in, and TensorFlow's words where they do not."""
from dragon import _C
from dragon.core.capture.control import NoGraph
from dragon.vm.shared import nest
from dragon.vm.shared.autograph.undefined import Undefined, UndefinedReturnValue
from dragon.vm.shared.tensors import tracing
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.shape import TensorShape

LEGAL = "Tensor, int, float, bool or a list, tuple or dict thereof"


def _as_tensor(value):
    """Return a number or array as a tensor; other values as they are."""
    if isinstance(value, (bool, int, float)) or type(value).__module__ == "numpy":
        return convert_to_tensor(value)
    return value


def require_values(values, names, branch):
    """Raise a ValueError if a branch leaves a name without a value that the other one gives it."""
    for name, value in zip(names, values):
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must also be initialized in the {branch} branch")
        if isinstance(value, UndefinedReturnValue):
            raise ValueError(f"the {branch} branch must also have a return statement.")


def compare_branches(ones, others, names):
    """Raise a TypeError or ValueError if two branches leave values of other kinds."""
    for name, one, other in zip(names, ones, others):
        try:
            nest.assert_same_structure(one, other)
        except (ValueError, TypeError) as error:
            raise TypeError(f"'{name}' must have the same nested structure in the main and else branches:\n\n"
                            f"{error}") from None
        for mine, theirs in zip(nest.flatten(one), nest.flatten(other)):
            for value, branch in ((mine, "main"), (theirs, "else")):
                if value is None:
                    raise ValueError(f"'{name}' is None at the end of the {branch} branch.")
            mine, theirs = _as_tensor(mine), _as_tensor(theirs)
            if isinstance(mine, _C.Tensor) and isinstance(theirs, _C.Tensor) and mine.dtype != theirs.dtype:
                raise TypeError(f"'{name}' has dtype {mine.dtype.name} in the main branch, but dtype "
                                f"{theirs.dtype.name} in the else branch")


def require_loop_values(values, names, first=None, hint=None):
    """Raise if a loop begins with a name that has no value."""
    for place, (name, value) in enumerate(zip(names, values)):
        if isinstance(value, UndefinedReturnValue):
            found = None if first is None else first[place]
            if found is not None and not isinstance(found, UndefinedReturnValue):
                raise ValueError(f"the return value from a TensorFlow loop may only be a {LEGAL}; got {type(found)}")
            raise NotImplementedError("a return statement cannot be placed inside this TensorFlow loop; this may "
                                      "happen if a return statement depends on a static Python condition such as a "
                                      "hyperparameter")
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None before the loop")
        if isinstance(value, Undefined):
            raise ValueError(f"'{name}' must be defined before the loop" + (f"\n{hint}" if hint else ""))


def _is_within(shape, wider):
    if wider.rank is None:
        return True
    return shape.rank == wider.rank and all(size is None or size == mine for mine, size in zip(shape, wider))


def _compare_shapes(name, before, after, invariant):
    before, after = TensorShape(tuple(before.shape)), TensorShape(tuple(after.shape))
    if invariant is None:
        if not _is_within(after, before):
            if tracing.is_shape_open() and before.rank == after.rank:
                raise NoGraph(f"'{name}' has another shape in each round: {before}, then {after}")
            raise ValueError(f"'{name}' has shape {before} before the loop, but shape {after} after one iteration. Use "
                             "tf.autograph.experimental.set_loop_options to set shape invariants.")
        return
    invariant = TensorShape(invariant)
    if not _is_within(before, invariant):
        raise ValueError(f"'{name}' has shape {before} before the loop, which does not conform with the shape "
                         f"invariant {invariant}.")
    if not _is_within(after, invariant):
        raise ValueError(f"'{name}' has shape {after} after one iteration, which does not conform with the shape "
                         f"invariant {invariant}.")
    if before != after:
        raise NoGraph(f"'{name}' has another shape in each round: {before}, then {after}")


def compare_rounds(befores, afters, names, invariants=None):
    """Raise a TypeError or ValueError if a round leaves values of other kinds than it found.

    Parameters
    ----------
    befores, afters : Sequence[Any]
        The state before and after the first round.
    names : Sequence[str]
        What its parts are called.
    invariants : Dict[int, Any], optional
        Shapes that parts may take on, by their places; without it, shapes may be any.

    """
    compares_shapes, invariants = invariants is not None, invariants or {}
    for place, (name, before, after) in enumerate(zip(names, befores, afters)):
        if after is None:
            raise ValueError(f"'{name}' is None at the end of the iteration.")
        try:
            nest.assert_same_structure(before, after)
        except (ValueError, TypeError) as error:
            raise TypeError(f"'{name}' does not have the same nested structure after one iteration.\n\n"
                            f"{error}") from None
        shapes = nest.flatten(invariants[place]) if place in invariants and nest.is_nested(before) else [
            invariants.get(place)] * len(nest.flatten(before))
        for mine, theirs, invariant in zip(nest.flatten(before), nest.flatten(after), shapes):
            mine, theirs = _as_tensor(mine), _as_tensor(theirs)
            if not isinstance(mine, _C.Tensor) or not isinstance(theirs, _C.Tensor):
                if theirs is None:
                    raise ValueError(f"'{name}' is None at the end of the iteration.")
                continue
            if mine.dtype != theirs.dtype:
                raise TypeError(f"'{name}' has dtype {mine.dtype.name} before the loop, but dtype {theirs.dtype.name} "
                                "after one iteration")
            if compares_shapes:
                _compare_shapes(name, mine, theirs, invariant)
