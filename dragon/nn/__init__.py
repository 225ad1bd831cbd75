"""A small set of layers, for programs that stand on no frontend."""
from dragon.nn import functional
from dragon.nn.layers import (GELU, Conv2d, Dropout, Embedding, Flatten, LayerNorm, Linear, ReLU, Sequential, Sigmoid,
                              Tanh)
from dragon.nn.module import Module, Parameter
