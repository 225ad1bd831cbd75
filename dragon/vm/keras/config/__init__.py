"""The settings of Keras."""
from dragon.vm.keras.core.config import (
    backend, disable_flash_attention, enable_flash_attention, enable_unsafe_deserialization, epsilon, floatx,
    image_data_format, is_flash_attention_enabled, is_nnx_enabled, max_epochs, max_steps_per_epoch, set_backend,
    set_epsilon, set_floatx, set_image_data_format, set_max_epochs, set_max_steps_per_epoch)
from dragon.vm.keras.core.dtype_policies import dtype_policy, set_dtype_policy
from dragon.vm.keras.core.messages import (
    disable_interactive_logging, enable_interactive_logging, is_interactive_logging_enabled)
from dragon.vm.keras.core.traceback import (
    disable_traceback_filtering, enable_traceback_filtering, is_traceback_filtering_enabled)
