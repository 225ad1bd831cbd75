"""Tensors as PyTorch prints them: precision, widths, line breaks, and what stands behind the numbers."""
import math

from dragon.core import config
from dragon.core.modes import is_absent
from dragon.vm.torch.core.register import function, overridable
from dragon.vm.torch.core.tensor import Tensor, ops


class Options:
    """The options of printing tensors; changed by `set_printoptions`."""

    precision = 4
    threshold = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode = None


PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}


@function
def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Set how tensors are printed; what is not given stays, as it does for a profile that PyTorch has no such of."""
    if profile in PROFILES:
        Options.precision, Options.threshold, Options.edgeitems, Options.linewidth = PROFILES[profile]
    for name, value in (("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems),
                        ("linewidth", linewidth)):
        if value is not None:
            setattr(Options, name, value)
    Options.sci_mode = sci_mode


class Formatter:
    """One width and one notation for all numbers of a tensor.

    Parameters
    ----------
    numbers : list
        The real numbers to be shown, flat.
    floating : bool
        Whether they are floats.

    """

    def __init__(self, numbers, floating):
        self.floating, self.whole, self.scientific, self.width = floating, True, False, 1
        if not floating:
            self.width = max((len(str(number)) for number in numbers), default=1)
            return
        shown = [number for number in numbers if math.isfinite(number) and number != 0]
        if not shown:
            return
        largest, smallest = max(map(abs, shown)), min(map(abs, shown))
        self.whole = all(number == math.ceil(number) for number in shown)
        self.scientific = largest / smallest > 1000 or largest > 1e8 or (not self.whole and smallest < 1e-4)
        if Options.sci_mode is not None:
            self.scientific = Options.sci_mode
        self.width = max(1, *(len(self.write(number)) for number in shown))

    def write(self, number):
        """Return a number as text without padding."""
        if not self.floating:
            return str(number)
        if self.scientific:
            return f"{number:.{Options.precision}e}"
        if self.whole:
            return f"{number:.0f}" + ("." if math.isfinite(number) else "")
        return f"{number:.{Options.precision}f}"

    def format(self, number):
        """Return a number as text of the common width."""
        return self.write(number).rjust(self.width)


class ComplexFormatter:
    """Two formatters: one for real, one for imaginary parts."""

    def __init__(self, numbers, _):
        self.real = Formatter([number.real for number in numbers], True)
        self.imag = Formatter([number.imag for number in numbers], True)
        self.width = self.real.width + self.imag.width + 1

    def format(self, number):
        """Return a complex number as text."""
        imag = (self.imag.format(number.imag) + "j").lstrip()
        return self.real.format(number.real) + ("" if imag[0] in "+-" else "+") + imag


def edges(items, summarize):
    """Return the items to show, with Ellipsis for those left out."""
    edge = Options.edgeitems
    if not summarize or len(items) <= 2 * edge:
        return items
    return items[:edge] + [Ellipsis] + (items[-edge:] if edge else [])


def write_nested(numbers, depth, indent, summarize, formatter):
    """Return nested lists of numbers as text."""
    if depth == 0:
        return formatter.format(numbers)
    if depth == 1:
        per_line = max(1, (Options.linewidth - indent) // (formatter.width + 2))
        cells = [" ..." if number is Ellipsis else formatter.format(number) for number in edges(numbers, summarize)]
        lines = [", ".join(cells[start:start + per_line]) for start in range(0, len(cells), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = ["..." if part is Ellipsis else write_nested(part, depth - 1, indent + 1, summarize, formatter)
             for part in edges(numbers, summarize)]
    return "[" + ("," + "\n" * (depth - 1) + " " * (indent + 1)).join(parts) + "]"


def summary(x):
    """Return the corners of a large tensor, which alone decide widths."""
    for axis in range(x.ndim):
        edge, size = Options.edgeitems, x.shape[axis]
        if size > 2 * edge:
            x = ops.cat((ops.narrow(x, axis, 0, edge), ops.narrow(x, axis, size - edge, edge)), axis)
    return x


def write_numbers(x, indent):
    """Return a tensor's numbers as text."""
    x = x.detach()
    summarize = x.numel() > Options.threshold
    shown = summary(x) if summarize else x
    formatter = ComplexFormatter if x.dtype.is_complex else Formatter
    formatter = formatter(ops.reshape(shown, (-1,)).tolist(), x.dtype.is_floating_point)
    # A summarized tensor's lists hold the edges only: as many on either side as are shown.
    return write_nested(_marked(shown, x.shape) if summarize else shown.tolist(), x.ndim, indent, summarize, formatter)


def _marked(shown, shape):
    """Return the corners as lists in which every cut axis is one item too long to be shown in full."""
    def mark(items, depth):
        if depth == len(shape):
            return items
        parts = [mark(item, depth + 1) for item in items]
        edge = Options.edgeitems
        return parts[:edge] + parts[:1] + parts[edge:] if shape[depth] > 2 * edge else parts
    return mark(shown.tolist(), 0)


def node_name(node):
    """Return a node of the tape as PyTorch calls it: `mul` is MulBackward0."""
    name = node.name()
    if not name.islower():
        return name
    return "".join(part.capitalize() for part in name.split("_")) + "Backward0"


def notes_of(x):
    """Return what is said behind the numbers: size, dtype, device, history."""
    notes = []
    if x.device.type not in ("cpu",):
        notes.append(f"device='{x.device}'")
    usual = x.dtype.name in (config.default_dtype(), "int64", "bool") or x.dtype.name == {
        "float32": "complex64", "float64": "complex128"}.get(config.default_dtype())
    if x.device.type == "meta" or x.numel() == 0:
        if x.device.type == "meta" or x.ndim != 1:
            notes.append(f"size={tuple(x.shape)}")
        usual = x.dtype.name == config.default_dtype()
    if not usual:
        notes.append(f"dtype={x.dtype}")
    if x.grad_fn is not None:
        notes.append(f"grad_fn=<{node_name(x.grad_fn)}>")
    elif x.requires_grad:
        notes.append("requires_grad=True")
    return notes


def format_tensor(x, contents=None):
    """Return a tensor as PyTorch's `repr` gives it.

    Parameters
    ----------
    x : Tensor
        What is shown.
    contents : str, optional
        The text of its numbers, in the place of theirs.

    Returns
    -------
    str
        The text.

    """
    prefix = "tensor(" if type(x) is Tensor or type(x).__name__ == "Parameter" else f"{type(x).__name__}("
    if contents is not None:
        text = prefix + contents
    elif x.device.type == "meta":
        text = prefix + "..."
    elif x.numel() == 0:
        text = prefix + "[]"
    else:
        try:
            text = prefix + write_numbers(x, len(prefix))
        except RuntimeError as error:
            if not is_absent(error):
                raise
            text = f"{prefix}<no numbers>, size={tuple(x.shape)}"
    column = len(text) - text.rfind("\n") + 1
    for note in notes_of(x):
        if column + len(note) + 2 > Options.linewidth:
            text += ",\n" + " " * len(prefix) + note
            column = len(prefix) + len(note)
        else:
            text += ", " + note
            column += len(note) + 2
    return text + ")"


def __repr__(self, *, tensor_contents=None):
    return format_tensor(self, tensor_contents)


def __format__(self, spec):
    if self.ndim == 0 and type(self) is Tensor and self.device.type != "meta":
        return format(self.item(), spec)
    return object.__format__(self, spec)


Tensor.__repr__ = overridable(__repr__)
Tensor.__format__ = overridable(__format__)
