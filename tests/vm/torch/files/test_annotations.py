"""Types that objects of files have among their attributes, as annotations say them: made again, and nothing called."""
import collections
import functools
import io
import operator
import pickle
import typing
from harness.subresults import each
from typing import Any, Callable, Dict, List, Literal, Optional, Tuple, Union

import pytest

from dragon.vm import torch as dt

KINDS = {
    "optional": Optional[dt.Tensor], "union": Union[int, str, List[int]], "callable": Callable[[int, str], float],
    "open callable": Callable[..., Any], "tuple": Tuple[int, ...], "nothing": type(None), "dots": type(Ellipsis),
    "builtin": dict[str, list[int]], "alternatives": int | None | list[str], "literal": Literal["a", 1, True, None],
    "nested": Dict[str, Optional[Tuple[int, List[Union[str, float]]]]], "bare": typing.Sequence,
    "kind": type, "class": type[int]}


class Held:
    """Keeps a type."""

    def __init__(self, kind):
        self.kind = kind


class Chosen(type):
    """A metaclass with code of its own."""

    called = []

    def __or__(cls, other):
        Chosen.called.append(other)
        return cls

    def __getitem__(cls, inner):
        Chosen.called.append(inner)
        return cls


class Picked(metaclass=Chosen):
    """A class whose alternatives are code."""


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.parts = function, arguments

    def __reduce__(self):
        return self.parts


def load(value):
    """Return what `torch.load` reads of a file that holds a value."""
    file = io.BytesIO()
    dt.save(value, file)
    file.seek(0)
    return dt.load(file, weights_only=False)


@each("name", KINDS)
def test_types_come_back(name):
    assert load(Held(KINDS[name])).kind == KINDS[name]


def test_what_typing_notes_comes_back():
    made = Held(1)
    made.kind = typing.OrderedDict[str, int](one=1)
    assert load(made).kind.__orig_class__ == typing.OrderedDict[str, int]


def test_files_of_pytorch_have_them_too():
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save(Held(Union[int, Dict[str, Tuple[int, ...]]]), file)
    file.seek(0)
    assert dt.load(file, weights_only=False).kind == Union[int, Dict[str, Tuple[int, ...]]]


TRAPS = {
    "an element": (operator.getitem, {"a": 1}, "a"), "a class's own": (operator.getitem, Picked, 1),
    "text to compile": (operator.getitem, List, "int"), "numbers": (operator.or_, 1, 2),
    "a metaclass's": (operator.or_, Picked, int), "on the right": (operator.or_, int, Picked),
    "any reduction": (functools.reduce, operator.add, (1, 2)),
    "a new class": (type, "Made", (Held,), {}), "the class of an object": (type, 1),
    "a class to be made": (functools.partial, type, "Made"),
    "an alias of a class": (type(list[int]), Held, (int,)), "a form that takes nothing": (operator.getitem, Any, int)}


@each("name", TRAPS)
def test_nothing_else_is_called(name):
    Chosen.called.clear()
    with pytest.raises(pickle.UnpicklingError):
        load(Held(Call(*TRAPS[name])))
    assert not Chosen.called


def test_types_are_for_files_that_are_trusted():
    file = io.BytesIO()
    dt.save(collections.OrderedDict(kind=Optional[int]), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="getitem"):
        dt.load(file)


def test_types_within_types_end():
    kind = int
    for _ in range(60):
        kind = Call(operator.getitem, Dict, (kind, kind))
    with pytest.raises(pickle.UnpicklingError, match="no end"):
        load(Held(kind))
