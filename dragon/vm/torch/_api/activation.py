"""Activations: rows of PyTorch's names."""
ROWS = """
celu                              torch torch_ functional_
elu                               functional_ _nn _nn_
gelu                              functional _nn _nn_
glu                               _nn
hardshrink                        torch Tensor functional
hardsigmoid                       _nn _nn_
hardswish                         _nn _nn_
hardtanh                          functional_ _nn _nn_
leaky_relu                        functional_ _nn _nn_
logsigmoid ~ LogSigmoidBackward0  functional
log_sigmoid=logsigmoid            _nn
mish                              _nn _nn_
prelu ~ PreluKernelBackward0      torch Tensor functional
relu                              torch torch_ Tensor Tensor_ functional_
relu6 ~ HardtanhBackward0         _nn _nn_
rrelu                             torch torch_ functional_
selu ~ EluBackward0               torch torch_ functional_
sigmoid                           torch torch_ Tensor Tensor_ functional
expit=sigmoid                     special
silu                              _nn _nn_
softplus                          functional _nn
softshrink                        functional _nn
tanh                              torch torch_ Tensor Tensor_ functional
threshold                         torch torch_ functional_
"""
