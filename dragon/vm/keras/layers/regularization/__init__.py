"""Layers against overfitting."""
from dragon.vm.keras.layers.regularization.activity_regularization import ActivityRegularization
from dragon.vm.keras.layers.regularization.alpha_dropout import AlphaDropout
from dragon.vm.keras.layers.regularization.dropout import (
    Dropout, SpatialDropout1D, SpatialDropout2D, SpatialDropout3D)
from dragon.vm.keras.layers.regularization.gaussian import GaussianDropout, GaussianNoise
