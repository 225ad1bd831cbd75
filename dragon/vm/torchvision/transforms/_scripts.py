"""What scripts make of functions of images and of transforms.

Functions run as Python code. A transform in a script is an operator's call with its name and its options, which an
archive holds: Dragon makes the transform of them where the archive is loaded.
"""
import functools
import inspect
import json
from enum import Enum
from typing import List

from dragon.vm import torch

Tensor, Module = torch.Tensor, torch.nn.Module
LIBRARY = torch.library.Library("torchvision_transforms", "DEF")
KINDS = {}  # classes of transforms, and of their options, by name


def leave_to_python(namespace):
    """Note of all functions in a namespace that are ours and have no form for scripts that they have none."""
    for found in namespace.values():
        if inspect.isfunction(found) and "torchvision" in found.__module__ and not hasattr(found, "_script_form"):
            found._script_form = None


def publish(kinds, several):
    """Have scripts know some classes: of transforms and of options; `several` return more than one image."""
    for kind in kinds:
        KINDS[kind.__name__] = kind
        if issubclass(kind, Module):
            kind.__prepare_scriptable__ = _prepared
    Several.kinds = tuple(several)


def _prepared(transform):
    """Return what is scripted in a transform's place: not of a class that someone derived, whose code is its own."""
    if KINDS.get(type(transform).__name__) is not type(transform):
        return transform
    return (Several if isinstance(transform, Several.kinds) else Single)(transform)


class Single(Module):
    """The form of a transform that returns one image.

    Parameters
    ----------
    transform : Module
        The transform.

    """

    def __init__(self, transform):
        super().__init__()
        self.kind, self.options = type(transform).__name__, json.dumps(options_of(transform), default=_written)

    def forward(self, img: Tensor) -> Tensor:
        return torch.ops.torchvision_transforms.apply(img, self.kind, self.options)


class Several(Single):
    """The form of a transform that returns several images."""

    kinds = ()

    def forward(self, img: Tensor) -> List[Tensor]:
        return torch.ops.torchvision_transforms.apply_several(img, self.kind, self.options)


def options_of(transform):
    """Return the options that make a transform; None is what a transform keeps of an option that changes nothing."""
    options = {}
    for name, parameter in inspect.signature(type(transform)).parameters.items():
        value = getattr(transform, name)
        changes_nothing = value is None and type(parameter.default) is int
        options[name] = parameter.default if changes_nothing else value
    return options


def _written(value):
    if isinstance(value, Enum):
        return {"enum": type(value).__name__, "value": value.value}
    if isinstance(value, torch.dtype):
        return {"kind": str(value).rpartition(".")[2]}
    if isinstance(value, Tensor):
        return {"tensor": value.tolist(), "kind": str(value.dtype).rpartition(".")[2]}
    raise TypeError(f"torch.jit.script: got a transform with an option of type {type(value).__name__}, expected "
                    "numbers, strings, lists, tensors and enumerations")


def _read(entry):
    if "enum" in entry:
        return KINDS[entry["enum"]](entry["value"])
    if "tensor" in entry:
        return torch.tensor(entry["tensor"], dtype=getattr(torch, entry["kind"]))
    return getattr(torch, entry["kind"]) if "kind" in entry else entry


@functools.lru_cache(128)
def made(kind, options):
    """Return the transform of a name and its options."""
    return KINDS[kind](**json.loads(options, object_hook=_read))


def _apply(img, kind, options):
    return made(kind, options)(img)


def _apply_several(img, kind, options):
    return list(made(kind, options)(img))


LIBRARY.impl(LIBRARY.define("apply(Tensor img, str kind, str options) -> Tensor"), _apply)
LIBRARY.impl(LIBRARY.define("apply_several(Tensor img, str kind, str options) -> Tensor[]"), _apply_several)
