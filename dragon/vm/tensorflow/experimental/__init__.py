"""`tf.experimental`: types of the user's own that are made of tensors, and what functions make of them."""
from dragon.vm.shared.data.optional import Optional  # noqa: F401
from dragon.vm.tensorflow.core.extension.dispatching import (  # noqa: F401
    dispatch_for_api, dispatch_for_binary_elementwise_apis, dispatch_for_unary_elementwise_apis,
    unregister_dispatch_for)
from dragon.vm.tensorflow.core.extension.kinds import (  # noqa: F401
    BatchableExtensionType, ExtensionType, ExtensionTypeSpec)
from dragon.vm.tensorflow.core.rows import DynamicRaggedShape, RowPartition  # noqa: F401
