"""Which names of TensorFlow there are: all of its modules' but those named here."""
import functools
import pickle

import pytest

from dragon.vm import tensorflow as ours
from harness import genuine, interpreter

MISSING = {
    "": """
    RegisterGradient check_pinned conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2 dtensor graph_util
    lite load_library load_op_library mlir no_gradient quantization random_index_shuffle security tools tpu xla""",
    "math": """
    sobol_sample""",
    "math.special": """
    """,
    "linalg": """
    experimental""",
    "bitwise": """
    """,
    "signal": """
    """,
    "image": """
    decode_jxl generate_bounding_box_proposals""",
    "train": """
    ClusterDef JobDef ServerDef experimental""",
    "config": """
    experimental_connect_to_cluster experimental_connect_to_host""",
    "config.experimental": """
    ClusterDeviceFilters disable_mlir_bridge enable_mlir_bridge get_device_policy get_synchronous_execution
    set_device_policy set_synchronous_execution""",
    "config.threading": """
    """,
    "config.optimizer": """
    """,
    "debugging": """
    experimental""",
    "nest": """
    """,
    "errors": """
    """,
    "dtypes": """
    experimental""",
    "autodiff": """
    """,
    "lookup": """
    """,
    "sets": """
    """,
    "distribute": """
    MultiWorkerMirroredStrategy ParameterServerStrategy Server TPUStrategy cluster_resolver coordinator
    experimental""",
    "autograph": """
    """,
    "autograph.experimental": """
    """,
    "types.experimental": """
    AtomicFunction distributed""",
    "test": """
    assert_equal_graph_def benchmark_config create_local_cluster experimental""",
    "compat": """
    forward_compatibility_horizon""",
    "sysconfig": """
    CXX11_ABI_FLAG CXX_VERSION MONOLITHIC_BUILD get_compile_flags get_include get_link_flags""",
    "version": """
    """,
}


def find(module, path):
    """Return a module below another one."""
    return functools.reduce(getattr, filter(None, path.split(".")), module)


@pytest.mark.parametrize("path", MISSING)
def test_names(path):
    mine, theirs = find(ours, path), find(genuine.tf, path)
    missing = {name for name in dir(theirs) if not name.startswith("_") and not hasattr(mine, name)}
    assert missing <= set(MISSING[path].split())


def test_missing_names_say_so():
    with pytest.raises(AttributeError, match="tensorflow.reduce_sum"):
        ours.reduce_sun
    with pytest.raises(AttributeError, match="tensorflow.math.sigmoid"):
        ours.math.sigmoidd


def test_special_functions_travel_in_pickles(tmp_path):
    path = tmp_path / "functions.pickle"
    path.write_bytes(pickle.dumps([ours.math.special.bessel_j0, ours.math.special.bessel_i0, ours.bitwise.invert]))
    program = f"import pickle, dragon; print([item.__name__ for item in pickle.load(open({str(path)!r}, 'rb'))])"
    done = interpreter.run(["-c", program], tmp_path, timeout=120, preload="import pickle, dragon")
    assert done.stdout == "['bessel_j0', 'bessel_i0', 'invert']\n", done.stderr
