"""Products of matrices: rows of PyTorch's names."""
ROWS = """
addbmm(a=batch1 b=batch2)     torch Tensor Tensor_
addmm(a=mat1 b=mat2)          torch Tensor Tensor_
addmv(a=mat b=vec)            torch torch_ Tensor Tensor_
addr(a=vec1 b=vec2)           torch Tensor Tensor_
baddbmm(a=batch1 b=batch2)    torch Tensor Tensor_
bilinear(x=input1 y=input2)   torch functional
bmm(y=mat2)                   torch Tensor
chain_matmul(xs=matrices)
dot(y=tensor)                 torch Tensor
ger(y=vec2)                   torch Tensor
inner(y=other)                torch Tensor
multi_dot=linalg_multi_dot    linalg
linear ~ AddmmBackward0       functional _nn
matmul                        torch Tensor
matrix_power                  torch Tensor
mm(y=mat2)                    torch Tensor
mv(y=vec)                     torch Tensor
outer(y=vec2) ~ MulBackward0  torch Tensor
vdot(y=other)                 torch Tensor
"""
