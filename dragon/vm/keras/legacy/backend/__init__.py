"""keras.legacy.backend: what `tf.keras.backend` has, functions of tensors as programs of Keras 1 and 2 call them."""
from dragon.vm.guest import gather as _gather
from dragon.vm.keras.legacy.backend import flow, losses, numbers, shapes, variables, windows

_gather(globals(), flow, losses, numbers, shapes, variables, windows)
