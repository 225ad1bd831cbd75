"""Random numbers: rows of PyTorch's names."""
ROWS = """
alpha_dropout(training=training)  torch torch_
bernoulli(p=input)
binomial(p=prob)                  torch
cauchy(median=median)             Tensor_
dropout ~ MulBackward0            torch torch_
exponential(rate=lambd)           Tensor_
feature_alpha_dropout             torch_
feature_dropout                   torch_
geometric                         Tensor_
log_normal                        Tensor_
multinomial(p=input)              torch Tensor
native_dropout(training=train)    torch
normal                            Tensor_
uniform(low=from high=to)         Tensor_
"""
