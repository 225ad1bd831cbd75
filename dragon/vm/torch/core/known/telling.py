"""Has the engine's errors say PyTorch's sentences."""
from dragon.core import sentences


def rows():
    """Return the table, which programs without errors need not read."""
    from dragon.vm.torch.core.known.rows import ROWS
    return ROWS


def adopt():
    """Have the engine's errors tell PyTorch's sentences from now on."""
    sentences.adopt(rows)
