"""Convolutions: rows of PyTorch's names."""
ROWS = """
conv1d ~ ConvolutionBackward0
conv2d ~ ConvolutionBackward0
conv3d ~ ConvolutionBackward0
conv_transpose1d ~ ConvolutionBackward0  torch functional
conv_transpose2d ~ ConvolutionBackward0  torch functional
conv_transpose3d ~ ConvolutionBackward0  torch functional
"""
