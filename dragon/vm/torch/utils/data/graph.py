"""Which data pipes a data pipe is made of: `torch.utils.data.graph`."""
from collections.abc import Collection, Mapping

from dragon.vm.torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe


def traverse_dps(datapipe):
    """Return {id: (pipe, graph of the pipes in it)} of a data pipe."""
    return _traverse(datapipe, set())


traverse = traverse_dps


def _traverse(pipe, seen):
    if not isinstance(pipe, (IterDataPipe, MapDataPipe)):
        raise RuntimeError(f"Expected `IterDataPipe` or `MapDataPipe`, but {type(pipe)} is found")
    if id(pipe) in seen:
        return {}
    seen = seen | {id(pipe)}
    inner = {}
    for found in _pipes_in(vars(pipe), set()):
        inner.update(_traverse(found, seen))
    return {id(pipe): (pipe, inner)}


def _pipes_in(value, looked_at):
    """Yield the pipes that a structure holds, and not those within them."""
    if isinstance(value, (IterDataPipe, MapDataPipe)):
        yield value
    elif isinstance(value, Collection) and not isinstance(value, (str, bytes)) and id(value) not in looked_at:
        looked_at.add(id(value))
        if isinstance(value, (Mapping, list, tuple, set, frozenset)):
            for item in value.values() if isinstance(value, Mapping) else value:
                yield from _pipes_in(item, looked_at)
