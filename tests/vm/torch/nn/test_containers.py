"""Containers beside PyTorch's: every method, the same texts, orders and errors."""
from collections import OrderedDict

import pytest

from dragon.vm import torch as mine

torch = pytest.importorskip("torch")


def names(module):
    """Return the children by name and class."""
    return [(name, type(child).__name__) for name, child in module.named_children()]


def raised(function):
    """Return the name of the error that a call raises."""
    try:
        function()
    except Exception as error:
        return type(error).__name__
    return None


def play_sequential(nn):
    """Use a Sequential in all its ways."""
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    notes = [repr(s), len(s), type(s[1]).__name__, type(s[-1]).__name__, repr(s[1:]), repr(s[::2]), repr(s[3:]),
             "relu" in s]
    named = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
    notes += [names(named), repr(named[:1]), names(named + s), names(s * 2), names(2 * named)]
    s.append(nn.ELU()).insert(1, nn.GELU()).insert(-1, nn.CELU())
    s.extend([nn.SiLU()])
    notes += [names(s), type(s.pop(0)).__name__, type(s.pop(-1)).__name__, names(s)]
    s[0] = nn.Identity()
    del s[1]
    notes.append(names(s))
    del s[1:3]
    s += named
    notes.append(names(s))
    s *= 2
    notes += [names(s), [type(child).__name__ for child in s]]
    named.add_module("c", nn.Mish())
    named["a" if False else 0] = nn.Softsign()
    notes += [names(named), raised(lambda: s[99]), raised(lambda: s + [1]), raised(lambda: s * "2"),
              raised(lambda: s * 0), raised(lambda: s.insert(99, nn.ReLU())), raised(lambda: s.insert(0, 3)),
              raised(lambda: s.append(3)), raised(lambda: nn.Sequential(3)), "0" in dir(s)]
    return notes


def play_list(nn):
    """Use a ModuleList in all its ways."""
    found = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(2, 2)])
    notes = [repr(found), repr(nn.ModuleList()), len(found), repr(found[:2]), type(found[-1]).__name__]
    found.append(nn.Tanh()).extend([nn.ELU(), nn.ELU()])
    found.insert(1, nn.GELU())
    found[0] = nn.SiLU()
    notes += [names(found), type(found.pop(1)).__name__, names(found)]
    del found[0]
    del found[1:3]
    notes += [names(found), names(found + nn.ModuleList([nn.Mish()])), [type(child).__name__ for child in found]]
    found += [nn.CELU()]
    return notes + [names(found), raised(lambda: found[9]), raised(lambda: found.extend(3)),
                    raised(lambda: found.append(3)), raised(lambda: found(1)), "0" in dir(found), nn.ReLU() in found,
                    repr(nn.ModuleList([nn.ModuleList([nn.ReLU()] * 3)] * 2))]


def play_dict(nn):
    """Use a ModuleDict in all its ways."""
    found = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Tanh()})
    notes = [repr(found), len(found), list(found), "b" in found, list(found.keys()),
             [type(child).__name__ for child in found.values()], [key for key, _ in found.items()]]
    found["c"] = nn.ELU()
    found.update([("d", nn.GELU()), ["a", nn.SiLU()]])
    notes += [names(found), type(found.pop("b")).__name__, names(nn.ModuleDict(found)), type(found.c).__name__]
    del found["c"]
    found.update(nn.ModuleDict({"e": nn.ReLU()}))
    notes += [names(found), raised(lambda: found["zz"]), raised(lambda: found.update(3)),
              raised(lambda: found.update([("a",)])), raised(lambda: found.update([3])),
              raised(lambda: found.update({"a": 3})), raised(lambda: nn.ModuleDict({"keys": nn.ReLU()})),
              raised(lambda: found(1))]
    found.clear()
    return notes + [repr(found)]


def play_parameter_list(nn):
    """Use a ParameterList in all its ways."""
    guest = mine if nn is mine.nn else torch
    found = nn.ParameterList([guest.zeros(2, 3), nn.Parameter(guest.ones(1)), "text", 3])
    notes = [repr(found), len(found), list(found.state_dict()), type(found[0]).__name__, found[2], repr(found[1:3])]
    found.append(guest.ones(2)).extend([nn.Parameter(guest.ones(4))])
    found += [guest.ones(1)]
    found[0] = guest.ones(5)
    notes += [list(found.state_dict()), [type(item).__name__ for item in found], found[-1].shape == (1,),
              raised(lambda: found[9]), raised(lambda: found.extend(3)), raised(lambda: found(1)), "0" in dir(found)]
    return notes + [repr(nn.ParameterList()), len(list(found.parameters())), raised(lambda: found.extend(found[0]))]


def play_parameter_dict(nn):
    """Use a ParameterDict in all its ways."""
    guest = mine if nn is mine.nn else torch
    found = nn.ParameterDict({"b": guest.zeros(2), "a": nn.Parameter(guest.ones(1)), "n": 3})
    notes = [repr(found), len(found), list(found), "a" in found, list(found.keys()), list(found.state_dict()),
             [type(item).__name__ for item in found.values()], [key for key, _ in found.items()],
             list(reversed(found))]
    found["c"] = guest.ones(2, 2)
    notes += [found.setdefault("c", None).shape == (2, 2), found.setdefault("d", 7), found.get("zz", 5),
              type(found.pop("b")).__name__, list(found), found.popitem()[0], list(found.copy())]
    found.update([("e", guest.ones(1)), ("f", None)])
    notes += [list(found), list(found.fromkeys(["x", "y"], 0)), list(found | nn.ParameterDict({"z": guest.ones(1)})),
              raised(lambda: found["zz"]), raised(lambda: found.update(3)), raised(lambda: found.update([(1,)])),
              raised(lambda: found(1)), type(found.c).__name__]
    del found["a"]
    found |= {"g": guest.ones(1)}
    notes.append(list(found))
    found.clear()
    return notes + [repr(found), len(found)]


@pytest.mark.parametrize("play", [play_sequential, play_list, play_dict, play_parameter_list, play_parameter_dict])
def test_container(play):
    """Play on both."""
    ours, theirs = play(mine.nn), play(torch.nn)
    for place, (left, right) in enumerate(zip(ours, theirs)):
        assert left == right, f"note {place}"
