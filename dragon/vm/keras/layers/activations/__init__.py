"""Activations as layers."""
from dragon.vm.keras.layers.activations.activation import Activation
from dragon.vm.keras.layers.activations.elu import ELU
from dragon.vm.keras.layers.activations.leaky_relu import LeakyReLU
from dragon.vm.keras.layers.activations.prelu import PReLU
from dragon.vm.keras.layers.activations.relu import ReLU
from dragon.vm.keras.layers.activations.softmax import Softmax
