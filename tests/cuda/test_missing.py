"""Every kernel that the CPU has, the device has as well; those that are the host's own are written down."""
import dragon

# What no device is to have: pictures are decoded, and messages of several processes put together, by the host; and what
# the host's own libraries have beside its kernels.
OF_THE_HOST = frozenset("""
    combine conv_layout linear_layout pack_weight picture_blend picture_columns picture_write reverse_line
""".split())


def test_no_kernel_is_missing():
    """A kernel that comes for the CPU comes for the device."""
    x = dragon.ops.to_device(dragon.ops.zeros((1,)), "cuda")
    dragon.ops.add(x, x)  # now its library is loaded
    lacking = set(dragon._C.kernels("cpu")) - set(dragon._C.kernels("cuda")) - OF_THE_HOST
    assert not [name for name in lacking if not name.endswith("_onednn") and not name.startswith("convert_to_")]


def test_dtypes_are_those_of_the_cpu():
    """A kernel that the device has takes the dtypes that the CPU's takes."""
    here, there = dragon._C.kernels("cpu"), dragon._C.kernels("cuda")
    lacking = {name: sorted(set(here[name]) - set(there[name])) for name in set(here) & set(there)}
    assert {name: dtypes for name, dtypes in lacking.items() if dtypes} == {}, "write down why in the family's source"
