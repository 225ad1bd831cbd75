"""Tests that are written once and run for many values: `parametrize` and its kin, for classes of `unittest`.

A test that is one says so by its `parametrize_fn(test, generic_cls, device_cls)`, which yields (test, the end of its
name, its arguments, a function of arguments that gives decorators); several of them are combined, each with each.
"""
import functools

from dragon.vm import torch


def dtype_name(dtype):
    """Return a dtype's name without "torch."."""
    return str(dtype).rpartition(".")[2]


class _TestParametrizer:
    """The base of decorators that make several tests of one."""

    def _parametrize_test(self, test, generic_cls, device_cls):
        raise NotImplementedError(f"{type(self).__name__}: got no _parametrize_test, expected one")

    def __call__(self, fn):
        known = getattr(fn, "parametrize_fn", None)
        fn.parametrize_fn = self._parametrize_test if known is None else compose_parametrize_fns(
            known, self._parametrize_test)
        return fn


def compose_parametrize_fns(old_parametrize_fn, new_parametrize_fn):
    """Return what makes a test for each pair of the values of two decorators."""
    def both(test, generic_cls, device_cls):
        for old_test, old_name, old_arguments, old_decorators in list(
                old_parametrize_fn(test, generic_cls, device_cls)):
            for new_test, new_name, arguments, decorators in new_parametrize_fn(old_test, generic_cls, device_cls):
                twice = set(old_arguments) & set(arguments)
                if twice:
                    raise RuntimeError("Parametrization over the same parameter by multiple parametrization decorators "
                                       f'is not supported. For test "{test.__name__}", the following parameters are '
                                       f"handled multiple times: {twice}")

                def decorate(values, old=old_decorators, new=decorators):
                    return [*old(values), *new(values)]
                yield new_test, "_".join(filter(None, (new_name, old_name))), {**old_arguments, **arguments}, decorate
    return both


def instantiate_parametrized_tests(generic_cls):
    """Put tests with their values into a class, in place of those that are written once; a class decorator, too."""
    for name in tuple(dir(generic_cls)):
        written = getattr(generic_cls, name)
        if not hasattr(written, "parametrize_fn"):
            continue
        delattr(generic_cls, name)
        for test, ending, arguments, decorators in written.parametrize_fn(written, generic_cls, None):
            full = f"{test.__name__}_{ending}"
            for decorator in decorators(arguments):
                test = decorator(test)
            if hasattr(generic_cls, full):
                raise AssertionError(f"Redefinition of test {full}")
            setattr(generic_cls, full, with_arguments(test, arguments))
    return generic_cls


def with_arguments(test, arguments):
    """Return a test that needs no arguments."""
    @functools.wraps(test)
    def run(self):
        return test(self, **arguments)
    vars(run).pop("__wrapped__", None)  # runners would ask it for its arguments
    vars(run).pop("parametrize_fn", None)
    return run


class subtest:
    """The values of one test, with a name and decorators of its own.

    Parameters
    ----------
    arg_values : Any
        The value, or a tuple of them.
    name : str, optional
        The end of the test's name.
    decorators : Sequence[Callable], optional
        What it is decorated with.

    """

    __slots__ = ["arg_values", "name", "decorators"]

    def __init__(self, arg_values, name=None, decorators=None):
        self.arg_values, self.name, self.decorators = arg_values, name, decorators or []


class parametrize(_TestParametrizer):
    """Make a test for each of some values.

    Parameters
    ----------
    arg_str : str
        The names of the test's arguments, with commas between them.
    arg_values : Iterable
        A value, or a tuple or `subtest` of them, for each test.
    name_fn : Callable, optional
        Returns the end of a test's name for its values.

    """

    def __init__(self, arg_str, arg_values, name_fn=None):
        self.arg_names = [word.strip() for word in arg_str.split(",") if word != ""]
        self.arg_values, self.name_fn = arg_values, name_fn

    def _formatted_str_repr(self, idx, name, value):
        if isinstance(value, torch.dtype):
            return dtype_name(value)
        if isinstance(value, torch.device):
            return str(value)
        return f"{name}_{str(value).replace('.', '_')}" if isinstance(value, (int, float, str)) else f"{name}{idx}"

    def _ending(self, idx, values, name):
        if name:
            return name
        if self.name_fn:
            return self.name_fn(*values)
        return "_".join(self._formatted_str_repr(idx, *pair) for pair in zip(self.arg_names, values))

    def _parametrize_test(self, test, generic_cls, device_cls):
        if not self.arg_names:
            yield test, "", {}, lambda _: []
            return
        idx = None
        for idx, values in enumerate(self.arg_values):
            chosen, name, decorators = test, None, []
            if isinstance(values, subtest):
                values, name, decorators = values.arg_values, values.name, values.decorators
                chosen = same_test(test)  # decorators are this one's alone
            values = list(values) if len(self.arg_names) > 1 else [values]
            if len(values) != len(self.arg_names):
                raise RuntimeError(f"Expected # values == # arg names, but got: {len(values)} values and "
                                   f'{len(self.arg_names)} names for test "{test.__name__}"')
            yield (chosen, self._ending(idx, values, name), dict(zip(self.arg_names, values)),
                   lambda _, decorators=decorators: decorators)
        if idx is None:
            raise ValueError(f"{test}: An empty arg_values was passed to @parametrize. Note that this may result from "
                             "reuse of a generator.")


def same_test(test):
    """Return a function that does what a test does."""
    @functools.wraps(test)
    def run(*args, **kwargs):
        return test(*args, **kwargs)
    return run


class reparametrize(_TestParametrizer):
    """Change what another decorator makes: `adapter_fn(name, arguments)` gives pairs of them, or None for no test."""

    def __init__(self, parametrizer, adapter_fn):
        self.parametrizer, self.adapter_fn = parametrizer, adapter_fn

    def _parametrize_test(self, test, generic_cls, device_cls):
        for made, name, arguments, decorators in self.parametrizer._parametrize_test(test, generic_cls, device_cls):
            for adapted in self.adapter_fn(name, arguments) or ():
                if adapted is not None:
                    yield made, *adapted, decorators


class decorateIf(_TestParametrizer):
    """Decorate those of a decorator's tests for whose arguments a function holds."""

    def __init__(self, decorator, predicate_fn):
        self.decorator, self.predicate_fn = decorator, predicate_fn

    def _parametrize_test(self, test, generic_cls, device_cls):
        yield same_test(test), "", {}, lambda values: [self.decorator] if self.predicate_fn(values) else []
