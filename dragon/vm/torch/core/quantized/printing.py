"""Quantized tensors as PyTorch prints them."""
from dragon.vm.torch.core.printing import Options, format_tensor, write_numbers
from dragon.vm.torch.core.quantized.parts import (WHOLE, axis_of, dequantized, parts_of, rule, scheme_of)

PREFIX = "tensor("


@rule("__repr__")
def show(self, *, tensor_contents=None):
    """Return the numbers, and by which scale and zero point they are held."""
    numbers = dequantized(self)
    text = PREFIX + (write_numbers(numbers, len(PREFIX)) if numbers.numel() else "[]")
    scale, zero_point, _ = parts_of(self)
    notes = [f"size={tuple(self.shape)}", f"dtype={self.dtype}", f"quantization_scheme=torch.{scheme_of(self)}"]
    if scheme_of(self) == WHOLE:
        notes += [f"scale={scale.item()}", f"zero_point={zero_point.item()}"]
    else:
        notes += [f"scale={format_tensor(scale)}", f"zero_point={format_tensor(zero_point)}", f"axis={axis_of(self)}"]
    column = len(text) - text.rfind("\n") + 1
    for note in notes:
        width = len(note) if "\n" not in note else len(note) - note.rfind("\n")
        if column + len(note) + 2 > Options.linewidth:
            text += ",\n" + " " * len(PREFIX) + note
            column = len(PREFIX) + width
        else:
            text += ", " + note
            column += width + 2
    return text + ")"


@rule("__format__")
def format_with(self, spec):
    """Return the tensor as text."""
    return object.__format__(self, spec)
