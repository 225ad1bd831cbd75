"""Arguments of `keras.ops` that nothing could follow are refused, here and by genuine Keras."""
import numpy
import pytest

import dragon.vm.keras as mine
from harness import genuine


def test_a_cap_on_scores():
    x = numpy.ones((1, 2, 1, 4), "float32")
    for keras in (mine, genuine.keras):
        with pytest.raises(ValueError, match="attn_logits_soft_cap"):
            keras.ops.dot_product_attention(x, x, x, attn_logits_soft_cap=5.0)
