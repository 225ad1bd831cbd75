"""`torch.linalg` gives what genuine PyTorch gives, line by line; factors are compared by what they multiply to."""
import pytest

from dragon.vm import torch as dragon_torch
from harness.subresults import each
from harness.twin import on_genuine, rows, run, same, same_gradients

PRELUDE = ("L = torch.linalg; k = m.double(); o = b.double(); h = k @ k.T + 4 * torch.eye(4).double(); "
           "h = (h + h.mT) / 2; ")

SMOOTH = """
L.cholesky(h)
L.cholesky(h, upper=True)
L.cholesky_ex(h).L
L.inv(h)
L.inv_ex(h).inverse
L.det(k)
L.slogdet(k).logabsdet
L.solve(h, k)
L.solve(k, k[0])
L.solve(h, k, left=False)
L.solve_ex(k, k.T).result
L.solve_triangular(h, k, upper=True)
L.solve_triangular(h.T, k, upper=False, left=False, unitriangular=True)
L.eigvalsh(h)
L.eigh(h).eigenvalues
L.eigh(h, "U").eigenvalues
L.svdvals(k)
L.svd(k, full_matrices=False).S
(lambda U, S, Vh: U * S @ Vh)(*L.svd(k))
(lambda w, V: V * w @ V.mT)(*L.eigh(h))
L.qr(k).R.abs()
L.pinv(o)
L.lstsq(k, h).solution
L.lu(k).U
L.lu_factor(k).LU
L.matrix_exp(k / 4)
L.matrix_power(k, 3)
L.matrix_power(k, 0)
L.matrix_power(h, -2)
L.multi_dot([k, h, k[:, :2]])
L.matmul(o, k)
L.vecdot(o, o[:1])
L.cross(o[..., :3], o[..., 1:])
L.diagonal(o, offset=1)
L.vander(k[0])
L.vander(k[0], N=3)
L.norm(k)
L.norm(o, dim=1)
L.norm(o, 3, dim=1, keepdim=True)
L.norm(k, "fro")
L.norm(k, "nuc", dim=(0, 1))
L.norm(k, 2)
L.norm(o, inf, dim=(1, 2))
L.norm(k, -1)
L.vector_norm(o, 1.5, dim=(0, 2))
L.vector_norm(o)
L.matrix_norm(o)
L.matrix_norm(k, 1)
L.matrix_norm(k, "nuc")
L.matrix_norm(o, ord=-inf, dim=(0, 1), keepdim=True)
L.cond(h)
L.tensorinv(k.reshape(4, 2, 2), ind=1)
L.tensorsolve(k.reshape(2, 2, 4), o[0, :2, :2])
L.lu_solve(*L.lu_factor(k), h)
L.householder_product(k, k[0])
"""
VALUES = """
L.cond(h, 1)
L.cond(h, "fro")
L.eigvals(k).abs().sort().values
L.eig(k).eigenvalues.real.sort().values
L.qr(k, "r").Q
L.svd(o).Vh.shape
L.lu(k).P
L.lu_factor_ex(k).pivots
L.lu_factor_ex(k).info
L.ldl_factor(h).LD
L.ldl_factor_ex(h).info
L.ldl_solve(*L.ldl_factor(h), k)
L.cholesky_ex(-h).info
L.inv_ex(k * 0).info
L.matrix_rank(k)
L.matrix_rank(k, 3.0)
L.matrix_rank(h, hermitian=True)
L.matrix_rank(o, atol=torch.tensor([0.1, 3.0]).double())
L.matrix_rank(o, rtol=0.5)
L.matrix_rank(torch.zeros(2, 0, 3))
L.pinv(k, 0.5)
L.pinv(h, hermitian=True)
L.pinv(o, rtol=torch.tensor([0.1, 0.9]).double())
L.pinv(torch.zeros(0, 3))
L.lstsq(k[:, :2], h).residuals
L.lstsq(k[:, :2], h, driver="gelsd").singular_values
L.norm(torch.zeros(0, 3), 1)
L.norm(torch.zeros(0, 3), inf)
L.norm(x, dtype=torch.float64)
L.norm(i.float(), 0)
L.norm(z, 2)
L.inv(z[:, :3] + 2 * torch.eye(3))
L.eigvalsh(z[:, :3] + z[:, :3].mH)
L.det(torch.zeros(0, 0))
L.inv(k, out=torch.empty(4, 4).double())
L.norm(k, out=torch.empty(()).double())
L.solve(A=k, B=h)
L.det(A=k)
L.cholesky(input=h)
L.vander(i)
torch.inverse(k)
torch.det(h)
torch.linalg.slogdet(k)[0]
"""
ERRORS = """
L.inv(x)
L.inv(k * 0)
L.solve(k * 0, k)
L.cholesky(-h)
L.cholesky(i)
L.det(x)
L.eigh(o)
L.solve(k, d)
L.norm(k, "max")
L.norm(o, "fro")
L.norm(x, 1, (0, 0))
L.matrix_norm(v, 2)
L.matrix_norm(k, 3)
L.cross(x, y)
L.multi_dot([k])
L.matrix_power(x, 2)
L.vander(s)
L.svd(v)
L.solve_triangular(k, h)
L.tensorinv(k, 0)
"""


@each("row", rows(SMOOTH + VALUES + ERRORS))
def test_value(row):
    same(PRELUDE + row)


@each("row", rows(SMOOTH))
def test_gradient(row):
    # What is read from one array alone has no gradient by another.
    name = "b" if "(o" in row else "m"
    same_gradients(PRELUDE + row, name)


@pytest.mark.parametrize("row", ["torch.linalg.inv(m * 0)", "torch.linalg.cholesky(-m @ m.T)", "torch.inverse(m * 0)",
                                 "torch.linalg.solve(m * 0, m)"])
def test_failing_on_numbers_has_a_class(row):
    def check(module, row):
        error = run(row, module)[0]
        assert isinstance(error, module.linalg.LinAlgError), error
        assert isinstance(error, RuntimeError)
    check(dragon_torch, row)
    on_genuine(check, row)


def test_results_have_names():
    from dragon.vm import torch
    eye = torch.eye(2)
    for name, fields in (("svd", "U S Vh"), ("eigh", "eigenvalues eigenvectors"), ("qr", "Q R"), ("lu", "P L U"),
                         ("slogdet", "sign logabsdet"), ("lu_factor", "LU pivots"), ("inv_ex", "inverse info")):
        result = getattr(torch.linalg, name)(eye)
        assert [getattr(result, field) is part for field, part in zip(fields.split(), result)] == [True] * len(result)
        assert repr(result).startswith(f"torch.return_types.linalg_{name}(\n{fields.split()[0]}=tensor(")


@pytest.mark.parametrize("left, transpose", [(True, False), (False, True)])
def test_reflections_in_fewer_rows_than_columns(left, transpose):
    def made(t, left, transpose):
        x, tau = t.arange(20.0).reshape(2, 2, 5) / 9, t.tensor([[1.0, 0.5], [0.3, 0.2]])
        with pytest.raises(RuntimeError):
            t.ormqr(x, t.ones(2, 5), t.eye(2))
        return t.ormqr(x, tau, t.eye(2).expand(2, 2, 2), left, transpose).flatten().tolist()
    assert made(dragon_torch, left, transpose) == pytest.approx(on_genuine(made, left, transpose), abs=1e-6)
