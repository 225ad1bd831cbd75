"""Rows of linear algebra. What is unique only up to signs or phases is compared after putting it together again."""
from harness import Given, Row, Sample, Wrong

LINEAR = ("float64", "float32", "complex128", "complex64")
SQUARE = [Sample((3, 3)), Sample((2, 1, 4, 4)), Sample((1, 1)), Sample((0, 3, 3)), Sample((0, 0)), Sample((2, 0, 0))]
FULL = [Sample((3, 3)), Sample((2, 2, 2))]
ANY = [Sample((4, 3)), Sample((3, 4)), Sample((2, 3, 3)), Sample((0, 3)), Sample((3, 0)), Sample((0, 4, 3))]
SHAPED = [Sample((4, 3)), Sample((3, 4)), Sample((2, 3, 3))]
LOOSE = {"float32": (2e-3, 2e-4, "systems magnify rounding by their condition"),
         "complex64": (2e-3, 2e-4, "systems magnify rounding by their condition"),
         "float64": (1e-9, 1e-10, "systems magnify rounding by their condition"),
         "complex128": (1e-9, 1e-10, "systems magnify rounding by their condition")}
SINGULAR = "an expanded matrix is singular"
NOT_SQUARE = [Wrong((2, 3), says="square"), Wrong((3,), says="axes")]
INTEGERS = [Wrong(Given((3, 3), dtype="int64"), error=TypeError, says="int64")]


class Dragon:
    """Dragon's operators under the few words that the functions here share with PyTorch."""

    def __init__(self, dragon):
        self.ops = dragon.ops

    def adjoint(self, x):
        """Return the conjugate transpose."""
        return self.ops.adjoint(x)

    def eye(self, like):
        """Return the identity that fits a matrix."""
        return self.ops.eye(like.shape[-1], dtype=like.dtype, device=like.device)

    def weights(self, like):
        """Return diag(0, 3, 6, ...) that fits a matrix."""
        count = self.ops.arange(like.shape[-1], device=like.device)
        return self.ops.diag_embed(self.ops.cast(count, like.dtype) * 3.0)

    def run(self, name, *args, **kwargs):
        """Return an operator's results."""
        return getattr(self.ops, name)(*args, **kwargs)


class Torch:
    """PyTorch under the same words."""

    def __init__(self, torch):
        self.torch = torch

    def adjoint(self, x):
        """Return the conjugate transpose."""
        return x.mH

    def eye(self, like):
        """Return the identity that fits a matrix."""
        return self.torch.eye(like.shape[-1], dtype=like.dtype)

    def weights(self, like):
        """Return diag(0, 3, 6, ...) that fits a matrix."""
        return self.torch.diag(self.torch.arange(like.shape[-1]).to(like.dtype) * 3)

    def run(self, name, *args, **kwargs):
        """Return a function's results."""
        if name.startswith("linalg_"):
            return getattr(self.torch.linalg, name[len("linalg_"):])(*args, **kwargs)
        return getattr(self.torch, name)(*args, **kwargs)


def both(name, function, samples, **more):
    """Return a row whose function is written once for both libraries."""
    return Row(name, samples, call=lambda dragon, *args, **kwargs: function(Dragon(dragon), *args, **kwargs),
               torch=lambda torch, *args, **kwargs: function(Torch(torch), *args, **kwargs),
               **{"dtypes": LINEAR, "tolerance": LOOSE, **more})


def spd(lib, x):
    """Return a Hermitian positive-definite matrix made of x."""
    return x @ lib.adjoint(x) + lib.eye(x) * 2.0


def factor(lib, x, upper):
    """Return a Cholesky factor made of x."""
    return lib.run("linalg_cholesky", spd(lib, x), upper=upper)


def symmetric(lib, x):
    """Return a Hermitian matrix with separated eigenvalues made of x."""
    return (x + lib.adjoint(x)) * 0.25 + lib.weights(x)


def sturdy(lib, x):
    """Return a well-conditioned matrix with separated eigenvalues made of x."""
    return x * 0.3 + lib.weights(x) + lib.eye(x) * 2.0


def svd_parts(lib, x, full_matrices):
    """Return singular values, the product of the thin factors, and |U| and |Vh|."""
    u, s, vh = lib.run("linalg_svd", x, full_matrices)
    k = s.shape[-1]
    u, vh = u[..., :k], vh[..., :k, :]
    return s, u @ vh, abs(u), abs(vh)


def full_svd(lib, x):
    """Return what full factors must satisfy: singular values, U U^H and Vh^H Vh."""
    u, s, vh = lib.run("linalg_svd", x, True)
    return s, u @ lib.adjoint(u), lib.adjoint(vh) @ vh


def eigh_parts(lib, x, upper=False):
    """Return eigenvalues and |V| of a Hermitian matrix."""
    w, v = lib.run("linalg_eigh", symmetric(lib, x), "U" if upper else "L")
    return w, abs(v)


def eig_parts(lib, x):
    """Return |w|, |V|, the values' sum and a function of both."""
    w, v = lib.run("linalg_eig", sturdy(lib, x))
    return abs(w).sum(-1), (abs(v) * abs(v)).sum(-1) * 1.0, (v * w[..., None, :] @ lib.adjoint(v))


def lu_product(lib, x):
    """Return the factors of x and their product."""
    p, lower, upper = lib.run("linalg_lu", x)
    return p @ lower @ upper, lower, upper


def lu_solved(lib, x, y, left, adjoint):
    """Solve with the factors of x."""
    lu, pivots = lib.run("linalg_lu_factor", sturdy(lib, x))
    return lib.run("linalg_lu_solve", lu, pivots, y, left=left, adjoint=adjoint)


def qr_parts(lib, x, mode="reduced"):
    """Return |R|, |Q| and the product."""
    q, r = lib.run("linalg_qr", x, mode)
    return abs(r), abs(q), q @ r


def least_squares(torch, x, y, driver=None):
    """Return PyTorch's least squares."""
    return torch.linalg.lstsq(x, y, driver=driver)


def ldl_solved(lib, x, y, hermitian):
    """Solve with the factors of a symmetric or Hermitian matrix."""
    matrix = x + (lib.adjoint(x) if hermitian else x.transpose(-2, -1))
    ld, pivots = lib.run("linalg_ldl_factor", matrix, hermitian=hermitian)
    return lib.run("linalg_ldl_solve", ld, pivots, y, hermitian=hermitian)


def triangular(np, rng, shape):
    """Return numbers with a diagonal away from zero."""
    return rng.standard_normal(shape) + 3 * np.eye(shape[-1])


def solid(np, rng, shape):
    """Return a well-conditioned matrix."""
    return rng.standard_normal(shape) + 4 * np.eye(shape[-1])


def unit(np, rng, shape):
    """Return small reflectors, each with its own length."""
    return rng.uniform(-0.5, 0.5, shape)


def singular(np, rng, shape):
    """Return matrices without full rank."""
    x = rng.standard_normal(shape)
    x[..., -1, :] = x[..., 0, :]
    return x


S = Given((3, 3), make=solid)
BATCH = Given((2, 3, 3), make=solid)
T = Given((3, 3), make=triangular)

ROWS = [
    both("linalg_cholesky", lambda lib, x, upper=False: lib.run("linalg_cholesky", spd(lib, x), upper=upper),
         SQUARE + [Sample((3, 3), upper=True)]),
    both("linalg_cholesky_ex", lambda lib, x: lib.run("linalg_cholesky_ex", spd(lib, x))[0], FULL),
    both("cholesky", lambda lib, x: lib.run("cholesky", spd(lib, x), True), FULL),
    both("cholesky_solve", lambda lib, x, y, upper=False: lib.run("cholesky_solve", y, factor(lib, x, upper), upper),
         [Sample((3, 3), (3, 2)), Sample((2, 3, 3), (2, 3, 1), upper=True), Sample((3, 3), (3, 0))]),
    both("cholesky_inverse", lambda lib, x, upper=False: lib.run("cholesky_inverse", factor(lib, x, upper), upper),
         [Sample((3, 3)), Sample((2, 3, 3), upper=True)]),
    Row("linalg_solve_triangular",
        [Sample(T, (3, 2), upper=True), Sample(T, (3, 2), upper=False), Sample(T, (2, 3), upper=True, left=False),
         Sample(T, (2, 3, 1), upper=False, unitriangular=True),
         Sample(Given((2, 3, 3), make=triangular), (3, 2), upper=True),
         Sample((0, 0), (0, 2), upper=True), Sample(T, (3, 0), upper=False)],
        dtypes=LINEAR, tolerance=LOOSE, errors=[Wrong((3, 3), (2, 2), upper=True, says="rows")]),
    Row("triangular_solve", [Sample((3, 2), T, upper, transpose)
                             for upper in (True, False) for transpose in (True, False)],
        dtypes=LINEAR, tolerance=LOOSE, outputs=(0,)),
    Row("linalg_solve",
        [Sample(S, (3, 2)), Sample(S, (3,)), Sample(BATCH, (2, 3)), Sample(BATCH, (3, 1)), Sample(S, (2, 3, 2)),
         Sample(S, (2, 3), left=False), Sample((0, 0), (0, 2)), Sample((0, 3, 3), (0, 3, 2)), Sample(S, (3, 0))],
        strided=SINGULAR, dtypes=LINEAR, tolerance=LOOSE,
        errors=[Wrong((2, 3), (2, 1), says="square"), Wrong((3, 3), (2, 1), says="rows"),
                Wrong((3, 3), Given((3, 1), dtype="float32"), error=TypeError),
                Wrong(Given(values=[[0., 0.], [0., 1.]]), (2, 1), error=RuntimeError, says="singular")]),
    Row("linalg_solve_ex", [Sample(S, (3, 2))], dtypes=LINEAR, tolerance=LOOSE, outputs=(0,)),
    Row("linalg_inv", [Sample(S), Sample(BATCH), Sample((0, 0)), Sample((0, 2, 2))], strided=SINGULAR, dtypes=LINEAR,
        tolerance=LOOSE,
        errors=NOT_SQUARE + INTEGERS + [Wrong(Given(values=[[[1., 0.], [0., 1.]], [[1., 1.], [1., 1.]]]),
                                              error=RuntimeError, says="matrix 1 of the batch")]),
    Row("linalg_inv", [Sample(BATCH)], dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_solve", [Sample(BATCH, (2, 3, 2))], dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_lu_factor", [Sample(BATCH)], dtypes=LINEAR, tolerance=LOOSE, outputs=(0, 1)),
    Row("linalg_inv_ex", [Sample(S)], dtypes=LINEAR, tolerance=LOOSE, outputs=(0,)),
    Row("inverse", [Sample(S)], strided=SINGULAR, dtypes=LINEAR,
        tolerance=LOOSE),
    both("linalg_lu", lu_product, SHAPED + [Sample((0, 3)), Sample((2, 3, 0))]),
    Row("linalg_lu_factor", [Sample(S), Sample((4, 3)), Sample((2, 3, 4))], strided=SINGULAR, dtypes=LINEAR,
        tolerance=LOOSE, outputs=(0,),
        errors=[Wrong((3, 3), pivot=False, error=NotImplementedError)]),
    Row("linalg_lu_factor_ex", [Sample(S), Sample((0, 3, 3))], dtypes=LINEAR, tolerance=LOOSE, outputs=(0, 1)),
    both("linalg_lu_solve", lu_solved,
         [Sample((3, 3), (3, 2), left, adjoint) if left else Sample((3, 3), (2, 3), left, adjoint)
          for left in (True, False) for adjoint in (True, False)] + [Sample((2, 3, 3), (2, 3, 1), True, False)]),
    both("lu_solve", lambda lib, x, y: lib.run("lu_solve", y, *lib.run("linalg_lu_factor", sturdy(lib, x))),
         [Sample((3, 3), (3, 2))]),
    Row("lu_unpack", [Sample((3, 3), Given(dtype="int32", values=[2, 3, 3])),
                      Sample((4, 3), Given(dtype="int32", values=[4, 2, 3])),
                      Sample((3, 4), Given(dtype="int32", values=[1, 2, 3]))], dtypes=LINEAR,
        errors=[Wrong((3, 3), Given(dtype="int32", values=[2, 9, 3]), error=IndexError, says="9"),
                Wrong((3, 3), Given(dtype="int64", values=[1, 2, 3]), error=TypeError, says="int32")]),
    Row("linalg_det", SQUARE, dtypes=LINEAR, tolerance=LOOSE, errors=NOT_SQUARE + INTEGERS),
    # PyTorch's gradient at exactly singular matrices is zero; the cofactors are not.
    Row("linalg_det", [Sample(Given((3, 3), make=singular))], numpy=lambda np, x: np.linalg.det(x), dtypes=LINEAR,
        tolerance=LOOSE, second="the second derivative divides by the determinant"),
    Row("det", [Sample(S), Sample((2, 3, 3))], dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_slogdet", SQUARE, dtypes=LINEAR, tolerance=LOOSE),
    Row("slogdet", FULL, dtypes=LINEAR, tolerance=LOOSE),
    both("logdet", lambda lib, x: lib.run("logdet", spd(lib, x)), FULL),
    Row("logdet", [Sample(Given(values=[[-1., 0.], [0., 2.]]))], dtypes=("float64",), gradient=False),
    both("linalg_qr", qr_parts, [Sample((4, 3)), Sample((3, 4)), Sample((2, 3, 3)), Sample((3, 4), "complete"),
                                 Sample((0, 3)), Sample((3, 0)), Sample((0, 4, 3))]),
    both("linalg_qr of more rows", lambda lib, x: lib.run("linalg_qr", x, "complete")[1].abs(), [Sample((4, 2))],
         gradient="Q has arbitrary columns"),
    both("linalg_qr without Q", lambda lib, x: lib.run("linalg_qr", x, "r")[1].abs(), [Sample((4, 2))],
         gradient="Q is not computed"),
    Row("linalg_householder_product", [Sample(Given((4, 3), make=unit), Given((3,), make=unit)),
                                       Sample(Given((2, 4, 3), make=unit), Given((2, 2), make=unit)),
                                       Sample((3, 0), (0,))],
        dtypes=LINEAR, tolerance=LOOSE, errors=[Wrong((2, 3), (2,), says="rows")]),
    Row("ormqr", [Sample(Given((4, 3), make=unit), Given((3,), make=unit), (4, 2), left=True, transpose=t)
                  for t in (True, False)] +
        [Sample(Given((4, 3), make=unit), Given((3,), make=unit), (2, 4), left=False, transpose=t)
         for t in (True, False)], dtypes=LINEAR, tolerance=LOOSE),
    both("geqrf", lambda lib, x: lib.run("geqrf", x)[0], SHAPED, gradient="as in PyTorch"),
    both("linalg_svd", svd_parts, [Sample(shape, full) for full in (False,) for shape in ((4, 3), (3, 4), (2, 3, 3))]),
    both("linalg_svd with full matrices", full_svd, ANY, gradient="the added vectors are arbitrary"),
    Row("linalg_svdvals", ANY, dtypes=LINEAR, tolerance=LOOSE),
    both("linalg_eigh", eigh_parts, FULL + [Sample((3, 3), True), Sample((0, 0)), Sample((0, 3, 3))]),
    both("linalg_eigvalsh", lambda lib, x: lib.run("linalg_eigvalsh", symmetric(lib, x)), FULL + [Sample((0, 0))]),
    both("linalg_eig", eig_parts, FULL + [Sample((0, 3, 3))]),
    both("linalg_eigvals", lambda lib, x: abs(lib.run("linalg_eigvals", sturdy(lib, x))).sum(-1), FULL),
    Row("linalg_pinv", SHAPED + [Sample((0, 3)), Sample((2, 0, 3))], dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_pinv", [Sample((3, 2), rtol=0.5), Sample((3, 2), atol=0.1)], dtypes=LINEAR, tolerance=LOOSE,
        gradient="it holds for a constant rank"),
    both("linalg_pinv of Hermitian", lambda lib, x: lib.run("linalg_pinv", spd(lib, x), hermitian=True), FULL),
    Row("pinverse", [Sample((3, 2))], dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_matrix_rank", SHAPED + [Sample(Given((3, 3), make=singular)), Sample((0, 3)), Sample((3, 3), atol=9.0)],
        dtypes=LINEAR, gradient=False),
    Row("linalg_lstsq", [Sample((4, 3), (4, 2)), Sample((2, 4, 3), (2, 4, 1)), Sample((3, 4), (3, 2)),
                         Sample((3, 3), (3, 0))], torch=least_squares, strided=SINGULAR, dtypes=LINEAR,
        tolerance=LOOSE, outputs=(0,),
        errors=[Wrong((3, 3), (2, 1), says="rows"), Wrong((3, 3), (3, 1), driver="best", says="best")]),
    Row("linalg_lstsq", [Sample((4, 3), (4, 2), driver=driver) for driver in ("gels", "gelsd", "gelss")],
        torch=least_squares, strided=SINGULAR, dtypes=LINEAR,
        tolerance=LOOSE, outputs=(0, 1)),
    Row("linalg_lstsq", [Sample((4, 3), (4, 2), driver=driver) for driver in ("gels", "gelsy", "gelsd", "gelss")],
        torch=least_squares, strided=SINGULAR, dtypes=LINEAR,
        tolerance=LOOSE, gradient="the rank has none"),
    both("linalg_ldl_solve", ldl_solved, [Sample((3, 3), (3, 2), True), Sample((2, 3, 3), (2, 3, 1), False)],
         gradient="as in PyTorch"),
    Row("matrix_exp", [Sample((3, 3)), Sample((2, 2, 2)), Sample((0, 0)), Sample((1, 1))], dtypes=LINEAR,
        tolerance=LOOSE, errors=NOT_SQUARE),
    Row("linalg_tensorinv", [Sample((4, 6, 8, 3)), Sample((2, 2, 4), ind=2)], strided=SINGULAR,
        dtypes=("float64", "complex128"),
        tolerance={"float64": (1e-6, 1e-8, "a random 24 x 24 matrix"), "complex128": (1e-6, 1e-8, "the same")},
        gradient="that of the inverse"),
    Row("linalg_tensorsolve", [Sample(Given((2, 3, 6), make=lambda np, rng, s: rng.standard_normal(s)), (2, 3))],
        strided=SINGULAR, dtypes=("float64", "complex128"), tolerance=LOOSE),
    Row("linalg_cross", [Sample((2, 3), (2, 3)), Sample((3, 2), (3, 1), axis=0)], dtypes=LINEAR),
    Row("linalg_vecdot", [Sample((2, 3), (2, 3)), Sample((3, 2), (3, 1), axis=0), Sample((2, 0), (2, 0))],
        dtypes=LINEAR),
    Row("linalg_diagonal", [Sample((3, 4)), Sample((2, 3, 3), offset=1), Sample((2, 3, 4), axis1=0, axis2=2)],
        torch=lambda torch, x, offset=0, axis1=-2, axis2=-1: torch.diagonal(x, offset, axis1, axis2), dtypes=LINEAR),
    Row("linalg_matmul", [Sample((2, 3), (3, 4)), Sample((3,), (3,))], dtypes=LINEAR),
    Row("linalg_vander", [Sample((3,)), Sample((2, 3), N=4)], dtypes=LINEAR),
    Row("vander", [Sample((3,)), Sample((3,), N=2), Sample((3,), increasing=True)], dtypes=LINEAR,
        numpy=lambda np, x, N=None, increasing=False: np.vander(x, N, increasing)),
    Row("linalg_matrix_norm", [Sample((2, 3, 4), order) for order in (1, -1, 2, -2, float("inf"), -float("inf"))] +
        [Sample((2, 3, 4), 1, axis=(0, 2), keepdims=True), Sample((2, 3, 4), 2, axis=(0, 2), keepdims=True)],
        dtypes=LINEAR, tolerance=LOOSE, errors=[Wrong((3, 3), 3, says="ord")]),
    Row("linalg_matrix_norm_name", [Sample((2, 3, 4)), Sample((3, 4), "nuc"), Sample((3, 4), "fro", keepdims=True)],
        torch=lambda torch, x, order="fro", keepdims=False: torch.linalg.matrix_norm(x, order, keepdim=keepdims),
        dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_norm_name", [Sample((3, 4), "fro"), Sample((3, 4), "nuc"), Sample((2, 3, 4), "fro", (1, 2), True)],
        torch=lambda torch, x, order, axis=None, keepdims=False: torch.linalg.norm(x, order, axis, keepdims),
        dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_norm", [Sample((3, 4)), Sample((3, 4), 1), Sample((4,), 3), Sample((2, 3, 4), 2, axis=(1, 2)),
                        Sample((2, 3), axis=1, keepdims=True)], dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_cond", [Sample(S), Sample((4, 3)), Sample(S, 1), Sample(BATCH, -2), Sample(S, float("inf"))],
        numpy=lambda np, x, p=None: np.linalg.cond(x, p), dtypes=LINEAR, tolerance=LOOSE),
    Row("linalg_cond", [Sample(Given((3, 3), make=lambda np, rng, shape: np.ones(shape)), 1)], dtypes=LINEAR,
        gradient="singular"),
    Row("linalg_cond_name", [Sample(S, "fro"), Sample(S, "nuc")], numpy=lambda np, x, p: np.linalg.cond(x, p),
        dtypes=LINEAR, tolerance=LOOSE),
]
