"""What Keras's users ask of a backend: dtypes, default settings, symbolic tensors."""
from dragon.vm.keras.core.config import (
    backend, epsilon, floatx, image_data_format, set_epsilon, set_floatx, set_image_data_format)
from dragon.vm.keras.core.convert import is_keras_tensor
from dragon.vm.keras.core.dtypes import is_float_dtype, is_int_dtype, result_type, standardize_dtype
from dragon.vm.keras.core.global_state import clear_session
from dragon.vm.keras.core.naming import get_uid
