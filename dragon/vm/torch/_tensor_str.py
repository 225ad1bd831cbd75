"""Printing's parts under the names that libraries of tensor subclasses call."""
from dragon.vm.torch.core.printing import Options, format_tensor, write_numbers

PRINT_OPTS = Options


def _tensor_str(self, indent):
    """Return a tensor's numbers as text."""
    return "[]" if self.numel() == 0 else write_numbers(self, indent)


def _add_suffixes(tensor_str, suffixes, indent, force_newline):
    """Return a text with notes behind it, broken where lines grow too long, and a closing bracket."""
    column = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or column + len(suffix) + 2 > Options.linewidth:
            tensor_str += ",\n" + " " * indent + suffix
            column, force_newline = indent + len(suffix), False
        else:
            tensor_str += ", " + suffix
            column += len(suffix) + 2
    return tensor_str + ")"


def _str(self, *, tensor_contents=None):
    """Return a tensor as text."""
    return format_tensor(self, tensor_contents)


_str_intern = _str
