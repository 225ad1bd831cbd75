"""Pipelines, and the decorator that makes a function one."""
import functools
import inspect

from dragon.vm.dali.core.conditionals import rewrite as _rewrite
from dragon.vm.dali.core.graph import DataNode
from dragon.vm.dali.core.pipeline import Pipeline
from dragon.vm.dali.core.refusals import absent as _absent

_OF_PIPELINES = frozenset(inspect.signature(Pipeline.__init__).parameters) - {"self"}


def pipeline_def(fn=None, *, enable_conditionals=False, **pipeline_kwargs):
    """Make a function that returns outputs one that returns a pipeline with these outputs.

    Parameters
    ----------
    fn : Callable, optional
        The function; without it a decorator is returned.
    enable_conditionals : bool, optional, default=False
        Whether `if`, `and`, `or` and `not` may ask values of the pipeline.
    pipeline_kwargs : Any
        Arguments of `Pipeline`; those of a call of the result go before them.

    Returns
    -------
    Callable
        Takes the function's arguments and those of `Pipeline`.

    """
    if fn is None:
        return functools.partial(pipeline_def, enable_conditionals=enable_conditionals, **pipeline_kwargs)
    own = set(inspect.signature(fn).parameters)

    @functools.wraps(fn)
    def create_pipeline(*args, **kwargs):
        of_pipeline = {**pipeline_kwargs, **{name: value for name, value in kwargs.items() if name in _OF_PIPELINES}}
        conditional = kwargs.pop("enable_conditionals", enable_conditionals)
        if of_pipeline.pop("debug", False) or kwargs.pop("debug", False):
            raise _absent("pipeline_def(debug=True)", "run operators at once with dali.experimental.eager")
        pipe = Pipeline(**of_pipeline)
        function = _rewrite(fn) if conditional else fn
        with pipe:
            outputs = function(*args, **{name: value for name, value in kwargs.items()
                                         if name in own or name not in _OF_PIPELINES})
        if outputs is not None:
            pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else (outputs,)))
        return pipe
    return create_pipeline


def do_not_convert(func=None):
    """Return a function whose branches are Python's own, even if values of the pipeline are in reach.

    Parameters
    ----------
    func : Callable
        The function.

    """
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def plain(*args, **kwargs):
        return func(*args, **kwargs)
    return plain
