"""Settings of all pipes of a graph: who reads which part, and how pipes that draw are seeded."""
import inspect

from dragon.vm.torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from dragon.vm.torch.utils.data.graph import traverse_dps
from dragon.vm.torch.utils.data.sampler import draw_seed


def get_all_graph_pipes(graph):
    """Return the pipes of a graph, each once."""
    return list({key: pipe for key, pipe in _walk(graph)}.values())


def _walk(graph):
    for key, (pipe, inner) in graph.items():
        yield key, pipe
        yield from _walk(inner)


def _can(pipe, name):
    return inspect.ismethod(getattr(pipe, name, None))


def apply_sharding(datapipe, num_of_instances, instance_id, sharding_group=SHARDING_PRIORITIES.DEFAULT):
    """Have each pipe that can be shared out give one part of several.

    Parameters
    ----------
    datapipe : DataPipe
        The pipe whose graph is meant.
    num_of_instances, instance_id : int
        How many parts, and which one.
    sharding_group : SHARDING_PRIORITIES, optional
        Among whom.

    Returns
    -------
    DataPipe
        The pipe.

    """
    def share(graph, before):
        for pipe, inner in graph.values():
            able = _can(pipe, "apply_sharding") and (not _can(pipe, "is_shardable") or pipe.is_shardable())
            if able and before is not None:
                raise RuntimeError("Sharding twice on a single pipeline is likely unintended and will cause data "
                                   f"loss. Sharding already applied to {before} while trying to apply to {pipe}")
            if able:
                takes_group = len(inspect.signature(pipe.apply_sharding).parameters) > 2
                pipe.apply_sharding(num_of_instances, instance_id, *[sharding_group] * takes_group)
            share(inner, pipe if able else before)
    share(traverse_dps(datapipe), None)
    return datapipe


def apply_shuffle_settings(datapipe, shuffle=None):
    """Have each pipe that shuffles do so, or no longer; nothing changes for None."""
    if shuffle is None:
        return datapipe
    pipes = [pipe for pipe in get_all_graph_pipes(traverse_dps(datapipe)) if _can(pipe, "set_shuffle")]
    if shuffle and not pipes:
        from dragon.core import warnings
        warnings.warn("`shuffle=True` was set, but the datapipe does not contain a `Shuffler`. Adding one at the end. "
                      "Be aware that the default buffer size might not be sufficient for your task.")
        datapipe = datapipe.shuffle()
        pipes = [datapipe]
    for pipe in pipes:
        pipe.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe, rng):
    """Seed each pipe that draws, from a generator.

    Parameters
    ----------
    datapipe : DataPipe
        The pipe whose graph is meant.
    rng : torch.Generator
        Where the seeds come from.

    Returns
    -------
    DataPipe
        The pipe.

    """
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if _can(pipe, "set_seed"):
            pipe.set_seed(draw_seed(rng))
    return datapipe
