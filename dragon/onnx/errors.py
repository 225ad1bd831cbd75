"""Errors of an export."""
import importlib

from dragon.core.distribution import install_words


class ExportError(RuntimeError):
    """A model, or a part of it, has no ONNX expression."""


def load_package(name, install=install_words("onnx")):
    """Return a package that exports need and Dragon does not, or raise ModuleNotFoundError with how to get it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ModuleNotFoundError(f"export: got no package '{name}', expected it to be installed: "
                                  f"{install}", name=name) from None


class UnsupportedOperatorError(ExportError):
    """Calls without an ONNX expression: all of them, by name.

    Parameters
    ----------
    reasons : dict
        {what: why}.

    """

    def __init__(self, reasons):
        self.operators = sorted(reasons)
        lines = [f"{what}: {why}" for what, why in sorted(reasons.items())]
        super().__init__("no ONNX expression for " + ", ".join(self.operators) + "\n  " + "\n  ".join(lines))


class HardCodedError(ExportError):
    """A number of the captured calls follows a dynamic size in a way that the model cannot express."""
