"""Layers that change shapes."""
from dragon.vm.keras.layers.reshaping.cropping import Cropping1D, Cropping2D, Cropping3D
from dragon.vm.keras.layers.reshaping.reshape import Flatten, Permute, RepeatVector, Reshape
from dragon.vm.keras.layers.reshaping.up_sampling import UpSampling1D, UpSampling2D, UpSampling3D
from dragon.vm.keras.layers.reshaping.zero_padding import ZeroPadding1D, ZeroPadding2D, ZeroPadding3D
