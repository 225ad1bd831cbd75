"""`tf.autodiff`: the tape."""
from dragon.vm.tensorflow.core.flow.forward import ForwardAccumulator  # noqa: F401
from dragon.vm.tensorflow.core.tape import GradientTape  # noqa: F401
