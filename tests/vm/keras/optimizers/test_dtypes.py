"""Optimizers of variables in other dtypes than float32, against genuine Keras."""
import numpy as np
from harness import genuine
from harness.subresults import each

from dragon.vm.keras import optimizers
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.variable import Variable

RNG = np.random.default_rng(0)
START, STEPS = RNG.normal(size=(4, 3)).astype("float32"), RNG.normal(size=(4, 4, 3)).astype("float32")
# Genuine Keras has the decay rates in float32 even for float64.
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float64": 1e-5}


@each("dtype", TOLERANCE)
@each("name", ["SGD", "Adam", "AdamW", "RMSprop", "Lion", "Adafactor", "Lamb", "Adamax", "Adagrad"])
def test_steps(name, dtype):
    """Variables after several steps; the states have the variable's dtype."""
    found = []
    for module, make, convert in ((optimizers, Variable, convert_to_tensor),
                                  (genuine.keras.optimizers, genuine.keras.Variable, genuine.tf.cast)):
        variable, optimizer = make(START, dtype=dtype, name="v"), getattr(module, name)(0.1)
        for gradient in STEPS:
            optimizer.apply_gradients([(convert(gradient, dtype), variable)])
        assert optimizer.variables[-1].dtype == (dtype if name != "SGD" else "float32")
        found.append(np.asarray(variable.numpy()).astype("float64"))
    np.testing.assert_allclose(*found, atol=TOLERANCE[dtype], rtol=0)
