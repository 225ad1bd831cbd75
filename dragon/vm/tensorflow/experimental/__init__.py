"""`tf.experimental`: types of the user's own that are made of tensors, and what functions make of them."""
import warnings as _warnings

from dragon.vm.shared.data.optional import Optional  # noqa: F401
from dragon.vm.shared.tensors.dtypes import OBJECTS as _OBJECTS
from dragon.vm.tensorflow.core.extension.batching import ExtensionTypeBatchEncoder  # noqa: F401
from dragon.vm.tensorflow.core.extension.dispatching import (  # noqa: F401
    dispatch_for_api, dispatch_for_binary_elementwise_apis, dispatch_for_binary_elementwise_assert_apis,
    dispatch_for_unary_elementwise_apis, unregister_dispatch_for)
from dragon.vm.tensorflow.core.extension.kinds import (  # noqa: F401
    BatchableExtensionType, ExtensionType, ExtensionTypeSpec)
from dragon.vm.tensorflow.core.flow.sections import (  # noqa: F401
    async_clear_error, async_scope, function_executor_type)
from dragon.vm.tensorflow.core.places_of_code import register_filesystem_plugin  # noqa: F401
from dragon.vm.tensorflow.core.rows import DynamicRaggedShape, RowPartition  # noqa: F401

globals().update((name, _OBJECTS[name]) for name in (
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e4m3b11fnuz float4_e2m1fn int4 uint4 int2 "
    "uint2").split())


def enable_strict_mode():
    """Have warnings of what is deprecated be errors, those of TensorFlow's API alone."""
    _warnings.filterwarnings("error", category=DeprecationWarning, module=r"(dragon\.vm\.)?tensorflow")
