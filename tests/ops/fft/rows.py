"""Rows of the Fourier transforms."""
from harness import Given, Row, Sample, Wrong

REALS = ("float64", "float32")
COMPLEX = ("complex128", "complex64")
BOTH = ("float64", "complex128", "float32", "complex64")
LOOSE = {"float32": (1e-4, 1e-5, "sums of many terms"), "complex64": (1e-4, 1e-5, "sums of many terms"),
         "float64": (1e-10, 1e-12, "sums of many terms"), "complex128": (1e-10, 1e-12, "sums of many terms")}
# Lengths of every kind: powers of two, small primes, products of them, primes that need Bluestein's way.
LENGTHS = [Sample((n,)) for n in (1, 2, 3, 5, 7, 8, 11, 13, 16, 17, 30, 31, 77, 97)]
ONE = LENGTHS + [Sample((2, 6)), Sample((3, 8), 5), Sample((3, 5), 8, 0), Sample((2, 5, 3), axis=1, norm="ortho"),
                 Sample((4, 6), norm="forward")]
HALF = LENGTHS[1:] + [Sample((2, 6)), Sample((3, 8), 7), Sample((3, 5), 8, 0), Sample((2, 5, 3), axis=1, norm="ortho"),
                      Sample((4, 6), norm="forward")]
TWO = [Sample((4, 6)), Sample((2, 3, 5)), Sample((4, 6), s=(3, 8)), Sample((3, 4, 5), axis=(0, 1), norm="ortho")]
MANY = TWO[:3] + [Sample((3, 4, 5)), Sample((3, 4, 5), axis=(2, 0), norm="forward"), Sample((3, 4, 5), s=(2, -1))]
ERRORS = [Wrong((), error=ValueError), Wrong((3,), 0, says="length"), Wrong((3,), axis=2, error=IndexError),
          Wrong((3,), norm="best", says="best")]
HALF_PRECISION = [Wrong(Given((4,), dtype="float16"), error=TypeError, says="float16")]


def fourier(name, samples, dtypes, **more):
    """Return the row of a transform."""
    return Row(f"fft_{name}", samples, dtypes=dtypes, tolerance=LOOSE, **more)


STFT = [Sample((2, 40), 8), Sample((33,), 8, hop_length=3), Sample((2, 40), 9, hop_length=4, win_length=6),
        Sample((40,), 8, center=False, normalized=True), Sample((40,), 8, onesided=False)]


def torch_stft(torch, x, n_fft, **more):
    """Return PyTorch's transform, in complex numbers."""
    return torch.stft(x, n_fft, return_complex=True, **more)


def there_and_back(dragon, x, n_fft, **more):
    """Return what istft makes of what stft made."""
    keep = {key: value for key, value in more.items() if key != "length"}
    spectrum = dragon.ops.stft(x, n_fft, **keep)
    return dragon.ops.istft(spectrum, n_fft, **more)


def torch_there_and_back(torch, x, n_fft, **more):
    """Return the same by PyTorch."""
    keep = {key: value for key, value in more.items() if key != "length"}
    return torch.istft(torch.stft(x, n_fft, return_complex=True, **keep), n_fft, **more)


ROWS = [
    fourier("fft", ONE, BOTH, errors=ERRORS + HALF_PRECISION),
    fourier("ifft", ONE, BOTH),
    fourier("rfft", ONE, REALS, errors=[Wrong(Given((4,), dtype="complex128"), error=TypeError, says="real")]),
    fourier("irfft", HALF, COMPLEX),
    fourier("hfft", HALF, COMPLEX),
    fourier("ihfft", ONE, REALS),
    fourier("fft2", TWO, BOTH),
    fourier("ifft2", TWO, BOTH),
    fourier("rfft2", TWO, REALS),
    fourier("irfft2", TWO, COMPLEX),
    fourier("hfft2", TWO, COMPLEX),
    fourier("ihfft2", TWO, REALS),
    fourier("fftn", MANY, BOTH, errors=[Wrong((3, 4), axis=(0, 0), says="once"), Wrong((3,), s=(2, 2), says="sizes")]),
    fourier("ifftn", MANY, BOTH),
    fourier("rfftn", MANY, REALS),
    fourier("irfftn", MANY, COMPLEX),
    fourier("hfftn", MANY, COMPLEX),
    fourier("ihfftn", MANY, REALS),
    # PyTorch's own transforms of no lines at all are an error of its library.
    Row("fft_fft", [Sample((0, 4))], dtypes=COMPLEX, numpy=lambda np, x: np.fft.fft(x)),
    Row("fft_rfft", [Sample((0, 4))], dtypes=("float64",), numpy=lambda np, x: np.fft.rfft(x)),
    Row("fft_irfft", [Sample((0, 4))], dtypes=("complex128",), numpy=lambda np, x: np.fft.irfft(x)),
    Row("fft_fft", [Sample((4,))], dtypes=("int64", "bool"), gradient=False, tolerance=LOOSE),
    Row("fft_fftshift", [Sample((5,)), Sample((4, 3)), Sample((4, 3), axis=1), Sample((2, 0))], dtypes=BOTH),
    Row("fft_ifftshift", [Sample((5,)), Sample((4, 3)), Sample((4, 3), axis=(0,))], dtypes=BOTH),
    Row("fft_fftfreq", [Sample(5), Sample(6), Sample(1), Sample(8, 0.25)], dtypes=("float32",), gradient=False,
        errors=[Wrong(0, says="at least 1")]),
    Row("fft_rfftfreq", [Sample(5), Sample(6), Sample(1), Sample(8, 0.25)], dtypes=("float32",), gradient=False),
    Row("stft", STFT, torch=torch_stft, dtypes=REALS, tolerance=LOOSE,
        errors=[Wrong((4,), 8, center=False, says="n_fft"), Wrong((40,), 8, win_length=9, says="win_length")]),
    Row("istft", [Sample((2, 40), 8), Sample((40,), 8, hop_length=2, length=37),
                  Sample((2, 40), 10, normalized=True, onesided=False)],
        call=there_and_back, torch=torch_there_and_back, dtypes=REALS, tolerance=LOOSE),
]
