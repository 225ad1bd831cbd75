"""keras.src: Keras's source tree, from which libraries import; its names are those of the other modules."""
from dragon.vm.keras.core.source_tree import look_up, plant

plant()
__getattr__, __dir__ = look_up(__name__, ["keras", "Functional=models.functional.Functional"])
