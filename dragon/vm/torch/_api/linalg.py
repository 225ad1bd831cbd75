"""Linear algebra: rows of PyTorch's names."""
ROWS = """
torch Tensor: cholesky det inverse logdet matrix_exp pinverse
linalg: cholesky=linalg_cholesky eigvals=linalg_eigvals eigvalsh=linalg_eigvalsh
linalg: householder_product=linalg_householder_product matmul=linalg_matmul matrix_exp=linalg_matrix_exp
linalg: tensorinv=linalg_tensorinv vector_norm=linalg_vector_norm
cholesky_inverse(L=input)                                   torch Tensor
cholesky_solve(L=input2)                                    torch Tensor
geqrf -> (a tau)                                            torch Tensor
cholesky_ex=linalg_cholesky_ex -> (L info)                  linalg
det=linalg_det(x=A)                                         linalg
diagonal=linalg_diagonal(x=A axis1=dim1 axis2=dim2)         linalg
eig=linalg_eig -> (eigenvalues eigenvectors)                linalg
linalg_eigh -> (eigenvalues eigenvectors)
inv=linalg_inv(x=A) ~ LinalgInvExBackward0                  linalg
inv_ex=linalg_inv_ex(x=A) -> (inverse info)                 linalg
ldl_factor=linalg_ldl_factor -> (LD pivots)                 linalg
ldl_factor_ex=linalg_ldl_factor_ex -> (LD pivots info)      linalg
ldl_solve=linalg_ldl_solve(y=B)                             linalg
linalg_lstsq(y=b) -> (solution residuals rank singular_values)
lu=linalg_lu(x=A) -> (P L U)                                linalg
lu_factor=linalg_lu_factor(x=A) -> (LU pivots)              linalg
lu_factor_ex=linalg_lu_factor_ex(x=A) -> (LU pivots info)   linalg
lu_solve=linalg_lu_solve(y=B)                               linalg
qr=linalg_qr(x=A) -> (Q R)                                  linalg
slogdet=linalg_slogdet(x=A) -> (sign logabsdet)             linalg
solve=linalg_solve(x=A y=B)                                 linalg
solve_ex=linalg_solve_ex(x=A y=B) -> (result info)          linalg
solve_triangular=linalg_solve_triangular(y=B)               linalg
linalg_svd(x=A) -> (U S Vh)
svdvals=linalg_svdvals(x=A)                                 linalg
tensorsolve=linalg_tensorsolve(axis=dims)                   linalg
linalg_vander(x=x)
vecdot=linalg_vecdot(x=x y=y)                               linalg
lu_solve(y=b LU=LU_data pivots=LU_pivots)                   torch Tensor
lu_unpack(LU=LU_data pivots=LU_pivots) -> (P L U)           torch
orgqr(tau=input2)                                           torch Tensor
ormqr(tau=input2 y=input3)                                  torch Tensor
qr -> (Q R)                                                 torch Tensor
slogdet -> (sign logabsdet)                                 torch Tensor
svd -> (U S V)                                              torch Tensor
triangular_solve(y=b x=A) -> (solution cloned_coefficient)  torch Tensor
vander(x=x)                                                 torch
"""
