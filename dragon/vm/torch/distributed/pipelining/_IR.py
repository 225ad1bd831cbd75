"""Models cut into stages, where their parts say so."""
import inspect
from dataclasses import dataclass
from enum import Enum
from types import MethodType
from typing import Any

from dragon.core.scopes import ExitStack
from dragon.core.thread_state import ThreadStack
from dragon.vm import torch
from dragon.vm.torch import fx
from dragon.vm.torch.distributed.pipelining.stage import build_stage


class SplitPoint(Enum):
    """Where a model is cut: before a part of it, or after."""

    BEGINNING = 1
    END = 2


class PipeSplitWrapper:
    """The place of `SplitPoint` of old."""

    SplitPoint = SplitPoint


_tracers = ThreadStack()  # that are at work


def pipe_split():
    """Cut the model here: to be called in a module's `forward`; where the model is not being cut it does nothing."""
    if _tracers:
        _tracers.top.create_proxy("call_function", pipe_split, (), {})


def _split_before_forward(self, *args, **kwargs):
    pipe_split()
    return self._orig_forward(*args, **kwargs)


def _split_after_forward(self, *args, **kwargs):
    output = self._orig_forward(*args, **kwargs)
    pipe_split()
    return output


def annotate_split_points(mod, spec):
    """Have a model be cut before or after some of its parts.

    Parameters
    ----------
    mod : torch.nn.Module
        The model.
    spec : Dict[str, SplitPoint]
        Where, by the names of parts.

    """
    ways = {SplitPoint.BEGINNING: _split_before_forward, SplitPoint.END: _split_after_forward}
    for name, where in spec.items():
        part, path = mod, name.split(".")
        for place, word in enumerate(path):
            try:
                part = getattr(part, word)
            except AttributeError as error:
                raise AttributeError(f"Specified target {name} referenced nonexistent module "
                                     f"{'.'.join(path[:place + 1])}") from error
        if where not in ways:
            raise ValueError(f"Unknown split point type: got {where!r} for {name}, expected a SplitPoint")
        part._orig_forward = part.forward
        part.forward = MethodType(ways[where], part)


def _forget_split_points(mod):
    """Give the parts of a model the forward that they had before `annotate_split_points`."""
    for part in mod.modules():
        before = vars(part).pop("_orig_forward", None)
        if before is not None:
            del part.forward
            if getattr(before, "__func__", None) is not type(part).forward:
                part.forward = before


def _calls_split(module):
    """Return whether a module's own code cuts the model."""
    forward = getattr(module, "_orig_forward", None)
    return forward is not None or "pipe_split" in type(module).forward.__code__.co_names


class _Tracer(fx.Tracer):
    """Traces through parts in which the model is cut, and leaves all others whole."""

    def is_leaf_module(self, m, module_qualified_name):
        """Return whether nothing within a part cuts the model."""
        return not any(map(_calls_split, m.modules()))


@dataclass
class PipeInfo:
    """What is known of a model that was cut.

    Parameters
    ----------
    graph : torch.fx.Graph
        The whole model.
    num_stages : int
        How many stages it has.
    has_loss_and_backward : bool
        False: losses are the schedules'.

    """

    graph: Any
    num_stages: int
    has_loss_and_backward: bool = False


class Pipe(torch.nn.Module):
    """A model that was cut into stages.

    Parameters
    ----------
    split_gm : torch.fx.GraphModule
        The whole model.
    stages : List[torch.nn.Module]
        Its stages.

    """

    def __init__(self, split_gm, stages):
        super().__init__()
        self.split_gm, self.num_stages = split_gm, len(stages)
        for number, stage in enumerate(stages):
            setattr(self, f"submod_{number}", stage)

    def forward(self, *args, **kwargs):
        """Compute all stages, one after another, in this process."""
        values = self.submod_0(*args, **kwargs)
        for number in range(1, self.num_stages):
            values = self.get_stage_module(number)(*(values if isinstance(values, tuple) else (values,)))
        return values

    def get_stage_module(self, stage_idx):
        """Return a stage's module."""
        if not 0 <= stage_idx < self.num_stages:
            raise ValueError(f"Invalid stage index {stage_idx}!")
        return getattr(self, f"submod_{stage_idx}")

    def info(self):
        """Return what `build_stage` wants to know."""
        return PipeInfo(self.split_gm.graph, self.num_stages)

    def build_stage(self, stage_index, device, group=None):
        """Return a stage for schedules.

        Parameters
        ----------
        stage_index : int
            Which one.
        device : torch.device
            Where it computes.
        group : ProcessGroup, optional
            The processes that have the stages; all by default.

        Returns
        -------
        PipelineStage
            The stage.

        """
        return build_stage(self.get_stage_module(stage_index), stage_index, self.info(), device, group)

    def print_readable(self):
        """Print the whole model and its stages."""
        print(self.split_gm.code)
        for number in range(self.num_stages):
            print(self.get_stage_module(number).code)

    def __str__(self):
        return str(self.split_gm)

    @staticmethod
    def from_tracing(mod, example_args, example_kwargs=None, split_policy=None):
        """Return a model cut where its parts say so.

        Parameters
        ----------
        mod : torch.nn.Module
            The model.
        example_args : Tuple
            The positional arguments of a piece of a batch.
        example_kwargs : Dict[str, Any], optional
            The named ones.
        split_policy : Callable[[torch.fx.GraphModule], torch.fx.GraphModule], optional
            Puts cuts into the traced model: calls of `pipe_split`.

        Returns
        -------
        Pipe
            The stages.

        """
        traced = _trace(mod, tuple(example_args), dict(example_kwargs or {}))
        if split_policy is not None:
            traced = split_policy(traced)
        stages = _cut(traced)
        _refuse_shared(stages)
        return Pipe(traced, stages)


def _trace(mod, args, kwargs):
    """Return a model as a graph; arguments that the example lacks have their defaults."""
    given = inspect.signature(mod.forward).bind(*args, **kwargs).arguments
    fixed = {}
    for name, parameter in inspect.signature(mod.forward).parameters.items():
        if name not in given and parameter.default is not parameter.empty:
            fixed[name] = parameter.default
        elif given.get(name, ...) is None or isinstance(given.get(name), (bool, int, float, str)):
            fixed[name] = given[name]
    tracer = _Tracer()
    try:
        with ExitStack() as stack:
            stack.push(_tracers.items, tracer)
            graph = tracer.trace(mod, concrete_args=fixed or None)
    except Exception as error:
        raise RuntimeError("pipeline: the code between the cuts decides by the values of tensors, expected a model "
                           "whose parts follow each other; PipelineStage takes stages that were cut by hand. "
                           f"{type(error).__name__}: {error}") from error
    for node in graph.nodes:  # values that are fixed still come under their own names, and are compared
        if node.op == "placeholder" and node.target.removesuffix("_1") in fixed:
            node.target = node.target.removesuffix("_1")
    return fx.GraphModule(mod, graph)


def _is_cut(node):
    return node.op == "call_function" and getattr(node.target, "__name__", "") == "pipe_split"


def _cut(traced):
    """Return the stages of a graph: each gives the values that later ones need, and what is only passed through."""
    parts = [[]]
    for node in traced.graph.nodes:
        if _is_cut(node):
            parts.append([])
        else:
            parts[-1].append(node)
    parts = [part for part in parts if part]
    if len(parts) > 1 and all(node.op == "output" for node in parts[-1]):
        output = parts.pop()  # a cut after the last part cuts nothing
        parts[-1] += output
    where = {node: number for number, part in enumerate(parts) for node in part}
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            where[node] = 0
    # What stage number + 1 and those after it need of stage number and those before it.
    last = {node: max((where[user] for user in node.users if user in where), default=-1) for node in where}
    crossing = [[node for node in where if where[node] <= number < last[node]] for number in range(len(parts) - 1)]
    stages = []
    for number, part in enumerate(parts):
        graph, copies = fx.Graph(), {}
        for node in crossing[number - 1] if number else ():
            copies[node] = graph.placeholder(node.name)
        for node in part:
            copies[node] = graph.node_copy(node, copies.__getitem__)
        if number < len(crossing):
            values = tuple(copies[node] for node in crossing[number])
            graph.output(values[0] if len(values) == 1 else values)
        graph.lint()
        stages.append(fx.GraphModule(traced, graph))
    return stages


def _refuse_shared(stages):
    """Raise if a parameter belongs to several stages, each of which would change it by itself."""
    owners = {}
    for number, stage in enumerate(stages):
        for name, parameter in stage.named_parameters():
            first, called = owners.setdefault(id(parameter), (number, name))
            if first != number:
                raise NotImplementedError(f"pipeline: got {called} of stage {first} as {name} in stage {number}, "
                                          "expected parameters that one stage uses: cut the model elsewhere, or give "
                                          "each stage its own")


def pipeline(module, mb_args, mb_kwargs=None, split_spec=None, split_policy=None):
    """Cut a model into stages.

    Parameters
    ----------
    module : torch.nn.Module
        The model.
    mb_args : Tuple
        The positional arguments of a piece of a batch, as an example.
    mb_kwargs : Dict[str, Any], optional
        The named ones.
    split_spec : Dict[str, SplitPoint], optional
        Where it is cut, by the names of parts; where `pipe_split()` is called otherwise.
    split_policy : Callable[[torch.fx.GraphModule], torch.fx.GraphModule], optional
        Puts cuts into the traced model.

    Returns
    -------
    Pipe
        The stages.

    """
    if split_spec is not None and split_policy is not None:
        raise ValueError("Cannot specify both `split_spec` and `split_policy`. Please use only one of them.")
    if split_spec is None:
        return Pipe.from_tracing(module, mb_args, mb_kwargs, split_policy)
    annotate_split_points(module, split_spec)
    try:
        return Pipe.from_tracing(module, mb_args, mb_kwargs)
    finally:
        _forget_split_points(module)
