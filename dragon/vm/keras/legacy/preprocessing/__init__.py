"""keras.legacy.preprocessing: texts, sequences and pictures prepared as programs of Keras 1 and 2 do it."""
from dragon.vm.keras.legacy.preprocessing import image, sequence, text
