"""Layers that attend."""
from dragon.vm.keras.layers.attention.additive_attention import AdditiveAttention  # noqa: F401
from dragon.vm.keras.layers.attention.attention import Attention  # noqa: F401
from dragon.vm.keras.layers.attention.grouped_query_attention import (  # noqa: F401
    GroupedQueryAttention as GroupQueryAttention)
from dragon.vm.keras.layers.attention.multi_head_attention import MultiHeadAttention  # noqa: F401
