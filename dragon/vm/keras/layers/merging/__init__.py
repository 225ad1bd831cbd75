"""Layers that make one tensor of several, and their twins, the functions."""
from dragon.vm.keras.layers.merging.concatenate import Concatenate
from dragon.vm.keras.layers.merging.dot import Dot
from dragon.vm.keras.layers.merging.elementwise import Add, Average, Maximum, Minimum, Multiply, Subtract
from dragon.vm.keras.layers.merging.functions import (
    add, average, concatenate, dot, maximum, minimum, multiply, subtract)
