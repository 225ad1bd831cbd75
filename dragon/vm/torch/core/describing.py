"""Docstrings of PyTorch's functions, completed from the tables in `_api/examples` when they are asked for."""
import inspect
import types
import os

from dragon.core.descriptions import GENERAL, RESULT, Descriptions, section
from dragon.vm import docstrings
from dragon.vm.guest import name_of
from dragon.vm.torch import _api


class TorchDescriptions(Descriptions):
    """What the tables say of operators, and of the functions that are written in Python."""

    def __init__(self):
        super().__init__(os.path.join(os.path.dirname(_api.__file__), "examples"))

    def describe_function(self, function):
        """Return what a function says of itself, with what its table's entry knows: arguments, result and example.

        An entry is called as the function, or with its module (`nn.functional.softmax`) where others have that name.
        """
        if not function.__doc__:
            return getattr(function, "__wrapped__", function).__doc__
        if isinstance(function, types.MethodDescriptorType):  # the engine's own, which tells everything
            return function.__doc__
        place = name_of(function.__module__).removeprefix("torch.").removeprefix("core.functions.")
        name = f"{place}.{function.__name__}"
        words, example = self.read(name if name in self.entries else function.__name__)
        known = {argument: docstrings.Word(f"{argument} : {kind} : {text}")
                 for argument, (kind, text) in {**self.read(GENERAL)[0], **words}.items()}
        head, *sections = docstrings.SECTION.split(inspect.cleandoc(function.__doc__))
        if not any(part.startswith(docstrings.HEAD) for part in sections):
            head += docstrings.REST
        parameters, defaults = docstrings.read_signature(function)
        doc = docstrings.complete("\n\n".join([head, *sections]), parameters, defaults, known)
        doc = doc.replace(head, head.removesuffix(docstrings.REST), 1)
        if RESULT in words and "\n\nReturns\n" not in doc:
            doc += "\n\n" + section("Returns", "\n    ".join(words[RESULT]))
        return doc + "\n\n" + section("Examples", example) + "\n" if example else doc
