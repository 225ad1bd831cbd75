"""Rows that were looked up while a tape recorded, so that gradients come as the rows alone (`tf.IndexedSlices`)."""
import threading

from dragon import _C
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.slices import IndexedSlices
from dragon.vm.shared.tensors.tensor import ops

_local = threading.local()


def _books():
    """Return what this thread's recording tapes note, the innermost last."""
    if not hasattr(_local, "books"):
        _local.books = []
    return _local.books


def note(source, numbers, rows):
    """Note that rows of a leaf were looked up.

    Parameters
    ----------
    source : Tensor
        The table.
    numbers : Tensor
        A vector of numbers of rows.
    rows : Tensor
        What was found, one row for each.

    """
    if _books() and source.requires_grad and source.is_leaf and rows.requires_grad:
        for book in _books():
            book.append((source, numbers, rows))


def open_book(stack, book):
    """Have look-ups be noted in a list as well, until an ExitStack ends."""
    stack.push(_books(), book)


def only_rows(targets, source, book):
    """Return the (numbers, rows) of a source that targets depend on, or None if they depend on it otherwise, too.

    Parameters
    ----------
    targets : Sequence[Tensor]
        What is differentiated.
    source : Tensor
        With respect to what.
    book : list
        What was noted.

    """
    found = {id(rows.grad_fn): (rows.grad_fn, numbers, rows) for one, numbers, rows in book if one is source}
    if not found:
        return None
    used, seen, later = [], {}, [target.grad_fn for target in targets if target.grad_fn is not None]
    if any(target is source for target in targets):
        return None
    while later:
        node = later.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node  # kept, as another node could get its number
        known = found.get(id(node))
        if known is not None and known[0] is node:
            used.append(id(node))
            continue
        if getattr(node, "variable", None) is not None and _is_same(node.variable, source):
            return None
        later += [other for other, _ in node.next_functions if other is not None]
    return [known[1:] for number, known in found.items() if number in used] or None


def _is_same(one, other):
    """Return whether two objects are one leaf."""
    return one is other or one.data_ptr() == other.data_ptr()


def join(source, parts):
    """Return the gradients of rows as slices of a source.

    Parameters
    ----------
    source : Tensor
        The table.
    parts : Sequence[Tuple[Tensor, Optional[Tensor]]]
        Numbers of rows, and the rows' gradients.

    """
    shape = tuple(_C.Tensor.shape.__get__(source))
    parts = [(numbers, ops.reshape(slope, (-1, *shape[1:]))) for numbers, slope in parts if slope is not None]
    if not parts:
        return None
    numbers, slopes = zip(*parts)
    whole = convert_to_tensor(list(shape), "int32")
    if len(parts) == 1:
        return IndexedSlices(slopes[0], numbers[0], whole)
    return IndexedSlices(ops.cat(slopes, 0), ops.cat(numbers, 0), whole)
