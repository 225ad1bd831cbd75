"""Docstrings that families of functions share: what is put in, in which order, and that every word is of use."""
import importlib
import inspect
import pkgutil

import pytest

from dragon.vm import docstrings, keras, torch, torchvision
from dragon.vm.keras.core.words import WORDS as WORDS_OF_KERAS
from dragon.vm.torch.core.words import WORDS as WORDS_OF_TORCH
from dragon.vm.torchvision._words import WORDS as WORDS_OF_TORCHVISION

WORDS_OF_A_FAMILY = {line.partition(" : ")[0].split(", ")[0]: docstrings.Word(line) for line in (
    "x : Tensor : The numbers.", "axis : int : The axis.", "low, high : float : The bounds.",
    "mode : str : How.", "return : Tensor : The result.")}


def complete(doc, names, **defaults):
    return docstrings.complete(doc, names.split(), defaults, WORDS_OF_A_FAMILY)


def test_a_sentence_that_goes_on_gets_the_rest_with_defaults():
    told = complete("Return it. ...", "x axis mode", axis=-1, mode="up")
    parameters = ('x : Tensor\n    The numbers.\naxis : int, optional, default=-1\n    The axis.\n'
                  'mode : str, optional, default="up"\n    How.')
    assert told == (f"Return it.\n\nParameters\n----------\n{parameters}\n\n"
                    "Returns\n-------\nTensor\n    The result.")


def test_what_is_said_stays_and_the_order_is_the_signatures():
    own = "Return it.\n\nParameters\n----------\nk : int\n    How many.\naxis : str\n    Its name.\n**more\n    Others."
    told = complete(own + "\n\nReturns\n-------\nint\n    None.\n\nExamples\n--------\n>>> 1", "k low high axis **more")
    assert told == ("Return it.\n\nParameters\n----------\nk : int\n    How many.\nlow, high : float\n    The bounds.\n"
                    "axis : str\n    Its name.\n**more\n    Others.\n\nReturns\n-------\nint\n    None.\n\n"
                    "Examples\n--------\n>>> 1")


def test_a_sentence_that_ends_stays_alone():
    assert complete("Return it.", "x axis") == "Return it."
    assert complete("Return it. ...", "other") == "Return it. ..."


def test_words_that_are_told_together_come_together_or_not_at_all():
    assert complete("Return it. ...", "low") == "Return it. ..."


def test_the_signature_is_read_as_docstrings_write_it():
    def function(x, y=2, *rest, key=None, **more):
        """Return nothing."""

    assert docstrings.read_signature(function) == (["x", "y", "*rest", "key", "**more"], {"y": 2, "key": None})


def test_methods_inherit_their_docstrings():
    assert keras.callbacks.EarlyStopping.on_epoch_end.__doc__ == keras.callbacks.Callback.on_epoch_end.__doc__
    described = keras.optimizers.LossScaleOptimizer.from_config.__doc__  # a class method's is completed above
    assert described == keras.optimizers.Optimizer.from_config.__doc__ and docstrings.REST not in described
    distributions = torch.distributions
    assert distributions.Gamma.mean.__doc__ == distributions.Distribution.mean.__doc__  # properties do, too
    assert distributions.constraints.real.check.__doc__ == distributions.constraints.Constraint.check.__doc__


def test_classes_of_users_are_left_as_they_are():
    def helper(self, value):
        return value

    class Slotted(torch.distributions.Distribution):
        __slots__ = ("x",)

    class Mine(torch.distributions.Normal):
        log_prob = helper

    assert helper.__doc__ is None and Mine.log_prob.__doc__ is None and Slotted.x.__doc__ is None


def list_documented(guest):
    """Yield the docstrings of all public functions, classes and methods."""
    for _, name, _ in pkgutil.walk_packages(guest.__path__, guest.__name__ + "."):
        module = importlib.import_module(name)
        for thing in vars(module).values():
            if inspect.isfunction(thing) or inspect.isclass(thing) and thing.__module__ == name:
                yield name, thing.__doc__ or ""
                for method in vars(thing).values() if inspect.isclass(thing) else ():
                    if inspect.isfunction(method):
                        yield name, method.__doc__ or ""


@pytest.mark.parametrize(("guest", "words"), [(keras, WORDS_OF_KERAS), (torch, WORDS_OF_TORCH),
                                              (torchvision, WORDS_OF_TORCHVISION)])
def test_every_word_is_of_use_and_none_is_missing(guest, words):
    found = list(list_documented(guest))
    rooms = tuple(f"dragon.vm.{line[1:-1]}" for line in words.strip().splitlines() if line.startswith("["))
    assert not [doc for name, doc in found
                if name.startswith(rooms) and doc.partition("\n")[0].endswith(docstrings.REST)]
    idle = []
    for line in words.strip().splitlines():
        if line.startswith("["):
            room = f"dragon.vm.{line[1:-1]}"
            continue
        names, kind, text = line.split(" : ", 2)
        head = kind if names == "return" else f"{names} : {kind}" if kind else names
        if not any(name.startswith(room) and head in doc and text in doc for name, doc in found):
            idle.append(f"{room}: {line}")
    assert not idle
