"""Normalizations."""
from dragon.vm.keras.layers.normalization.batch_normalization import BatchNormalization
from dragon.vm.keras.layers.normalization.group_normalization import GroupNormalization
from dragon.vm.keras.layers.normalization.layer_normalization import LayerNormalization
from dragon.vm.keras.layers.normalization.rms_normalization import RMSNormalization
from dragon.vm.keras.layers.normalization.spectral_normalization import SpectralNormalization
from dragon.vm.keras.layers.normalization.unit_normalization import UnitNormalization
