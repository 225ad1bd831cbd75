"""Forward-mode differentiation with dual numbers, which the engine lacks: its names are here and say so."""
import contextlib
from collections import namedtuple


_WHY = "Dragon differentiates backward only; torch.func.jvp gives products with the Jacobian by two backward passes"
UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])


def make_dual(tensor, tangent, *, level=None):
    """Say that there are no dual numbers."""
    raise NotImplementedError(f"forward_ad.make_dual: {_WHY}")


def unpack_dual(tensor, *, level=None):
    """Return a tensor and its tangent: None, since there are no dual numbers."""
    return UnpackedDualTensor(tensor, None)


def enter_dual_level():
    """Say that there are no dual numbers."""
    raise NotImplementedError(f"forward_ad.enter_dual_level: {_WHY}")


def exit_dual_level(*, level=None):
    """Say that there are no dual numbers."""
    raise NotImplementedError(f"forward_ad.exit_dual_level: {_WHY}")


class dual_level(contextlib.ContextDecorator):
    """Say that there are no dual numbers, when entered."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, exc_type, exc_value, traceback):
        pass
