"""Data sets of the package `grain`, for who asks for them with `format="grain"`."""
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.lazy_modules import grain
from dragon.vm.shared.tensors.tensor import ops

FORMATS = ("tf", "grain")


def check_format(format):
    """Raise for a kind of data set that there is not."""
    if format not in FORMATS:
        raise ValueError(f'`format` should be either "tf" or "grain". Received: format={format}')


def make_elements(source, targets, shuffle, seed, load=None):
    """Return a data set that can be asked for its elements by number.

    Parameters
    ----------
    source : Sequence[Any]
        What elements are made of.
    targets : Optional[Sequence[Any]]
        What stands beside each element.
    shuffle : bool
        Whether they come in random order.
    seed : int
        What decides that order.
    load : Callable, optional
        What makes an element.

    Returns
    -------
    grain.MapDataset
        The elements.

    """
    made = grain.MapDataset.source(source)
    if targets is not None:
        made = grain.experimental.ZipMapDataset([made, grain.MapDataset.source(targets)])
    made = made.shuffle(seed=seed) if shuffle else made
    if load is None:
        return made
    return made.map(load if targets is None else lambda pair: (load(pair[0]), pair[1]))


def make_batches(elements, batch_size):
    """Return a `grain.IterDataset` of batches of elements; of single ones, if no size is given."""
    made = elements.to_iter_dataset()
    return made if batch_size is None else made.batch(batch_size, batch_fn=_stack)


def _stack(elements):
    return tree.map_structure(lambda *parts: _stack_parts(parts), *elements)


def _stack_parts(parts):
    if isinstance(parts[0], str):
        return convert_to_tensor(list(parts))
    return ops.stack([convert_to_tensor(part) for part in parts], 0)
