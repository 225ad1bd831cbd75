"""keras.ops.nn: activations, convolutions, pooling, normalization, cross-entropies and attention."""
from dragon.vm.guest import gather as _gather
from dragon.vm.keras.ops.nn import activations, attention, convolution, ctc, encoding, losses, normalization, pooling

_gather(globals(), activations, attention, convolution, ctc, encoding, losses, normalization, pooling)
