"""Convolutions."""
from dragon.vm.keras.layers.convolutional.conv import Conv1D, Conv2D, Conv3D
from dragon.vm.keras.layers.convolutional.conv_transpose import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from dragon.vm.keras.layers.convolutional.depthwise_conv import DepthwiseConv1D, DepthwiseConv2D
from dragon.vm.keras.layers.convolutional.separable_conv import SeparableConv1D, SeparableConv2D

Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
Convolution1DTranspose, Convolution2DTranspose, Convolution3DTranspose = (
    Conv1DTranspose, Conv2DTranspose, Conv3DTranspose)
SeparableConvolution1D, SeparableConvolution2D = SeparableConv1D, SeparableConv2D
