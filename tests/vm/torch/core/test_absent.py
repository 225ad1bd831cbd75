"""Modules of PyTorch that Dragon cannot serve: every name of theirs is there, and using it says so."""
import importlib

import pytest

from dragon.vm.torch.core import absent
from harness.subresults import each


@each("name", absent.MODULES)
def test_every_name_can_be_imported(name):
    module = importlib.import_module(f"dragon.vm.torch.{name}")
    assert not [word for word in absent.MODULES[name] if word.rstrip("*@") not in vars(module)]


def test_stand_ins_stand_beside_what_a_module_has():
    symbolic = importlib.import_module("dragon.vm.torch.fx.experimental.symbolic_shapes")
    assert not isinstance(1, symbolic.ShapeEnv)
    with pytest.raises(NotImplementedError, match=r"^torch\.fx\.experimental\.symbolic_shapes\.ShapeEnv: Dragon does"):
        symbolic.ShapeEnv()
    with pytest.raises(NotImplementedError, match=r"^torch\.package\.PackageImporter: Dragon does not have it"):
        importlib.import_module("dragon.vm.torch.package").PackageImporter()
