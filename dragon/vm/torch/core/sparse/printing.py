"""Sparse tensors as PyTorch prints them."""
from dragon.core import config
from dragon.vm.torch.core.printing import node_name, write_numbers
from dragon.vm.torch.core.sparse.parts import (COMPRESSED, is_coordinates, layout_of, name_of, parts_of, rule,
                                               value_count)

PREFIX = "tensor("


def part_text(name, part):
    """Return a named part as text."""
    opening = f"{name}=tensor("
    if part.numel():
        return opening + write_numbers(part, len(PREFIX) + len(opening)) + ")"
    return f"{opening}[], size={tuple(part.shape)})"


def notes_of(x):
    """Return what is said behind the numbers."""
    notes = [f"size={tuple(x.shape)}", f"nnz={value_count(x)}"]
    if x.device.type not in ("cpu",):
        notes.insert(0, f"device='{x.device}'")
    if x.dtype.name not in (config.default_dtype(), "int64", "bool", "complex64"):
        notes.append(f"dtype={x.dtype}")
    notes.append(f"layout={layout_of(x)!r}")
    if x.grad_fn is not None:
        notes.append(f"grad_fn=<{node_name(x.grad_fn)}>")
    elif x.requires_grad:
        notes.append("requires_grad=True")
    return notes


def format_sparse(x):
    """Return a sparse tensor as PyTorch's `repr` gives it."""
    names = ("indices", "values") if is_coordinates(x) else (*COMPRESSED[name_of(x)], "values")
    text = PREFIX + (",\n" + " " * len(PREFIX)).join(
        part_text(name, part.detach()) for name, part in zip(names, parts_of(x)))
    notes = notes_of(x)
    if is_coordinates(x):
        return f"{text},\n{' ' * len(PREFIX)}" + ", ".join(notes) + ")"
    column = len(text) - text.rfind("\n") + 1
    for note in notes:
        if column + len(note) + 2 > 80:
            text += ",\n" + " " * len(PREFIX) + note
            column = len(PREFIX) + len(note)
        else:
            text += ", " + note
            column += len(note) + 2
    return text + ")"


@rule("__repr__")
def show(self, *, tensor_contents=None):
    """Return the tensor as text."""
    return format_sparse(self)


@rule("__format__")
def format_with(self, spec):
    """Return the tensor as text; a number in a format."""
    return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)
