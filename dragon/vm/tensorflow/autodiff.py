"""`tf.autodiff`: the tape."""
from dragon.vm.tensorflow.core.flow.forward import ForwardAccumulator  # noqa: F401
from dragon.vm.shared.recording.tape import GradientTape  # noqa: F401
