"""Which kernels the CPU has and the device has not is written down, so that one that comes leaves the list."""
import pathlib
import re

import dragon

# Family by family: what a device still lacks.
MISSING = {}
# What no device is to have: pictures are decoded, and messages of several processes put together, by the host; and what
# the host's own libraries have beside its kernels.
OF_THE_HOST = frozenset("""
    combine conv_layout linear_layout pack_weight picture_blend picture_columns picture_write reverse_line
""".split())


def families():
    """Return the family of each kernel, by the header that declares it."""
    kernels = pathlib.Path(__file__).parents[2] / "core" / "kernels"
    found = {}
    for header in sorted(kernels.rglob("*.h")):
        family = header.stem if header.parent == kernels else header.parent.name
        for name in re.findall(r'\{\s*"(\w+)"\}', header.read_text()):
            found.setdefault(name, family)
    return found


def missing():
    """Return, by family, the kernels that the CPU has and the device has for no dtype."""
    here, there, family = dragon._C.kernels("cpu"), dragon._C.kernels("cuda"), families()
    found = {}
    for name in sorted(set(here) - set(there) - OF_THE_HOST):
        if name.endswith("_onednn") or name.startswith("convert_to_"):
            continue
        found.setdefault(family.get(name, "other"), []).append(name)
    return {name: " ".join(kernels) for name, kernels in sorted(found.items())}


def test_missing_kernels_are_known():
    """The kernels without a form for the device are those of the list, no more and no fewer."""
    x = dragon.ops.to_device(dragon.ops.zeros((1,)), "cuda")
    dragon.ops.add(x, x)  # now its library is loaded
    found = missing()
    print("".join(f'\n    "{name}": "{kernels}",' for name, kernels in found.items()))
    assert found == MISSING


def test_dtypes_are_those_of_the_cpu():
    """A kernel that the device has takes the dtypes that the CPU's takes."""
    here, there = dragon._C.kernels("cpu"), dragon._C.kernels("cuda")
    lacking = {name: sorted(set(here[name]) - set(there[name])) for name in set(here) & set(there)}
    assert {name: dtypes for name, dtypes in lacking.items() if dtypes} == {}, "write down why in the family's source"
