"""In which dtype layers compute, and in which they keep their weights."""
from dragon.vm.keras.core.dtype_policies import (
    AWQDTypePolicy, DTypePolicy, DTypePolicyMap, FloatDTypePolicy, GPTQDTypePolicy, Int4DTypePolicy,
    QuantizedDTypePolicy, QuantizedFloat8DTypePolicy, deserialize, get, serialize)
