"""keras.legacy: what older files and libraries ask for."""
from dragon.vm.keras.legacy import saving
