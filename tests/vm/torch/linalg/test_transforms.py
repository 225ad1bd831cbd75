"""`torch.fft`, `stft`, windows and `torch.special` give what genuine PyTorch gives, line by line."""
import pytest

from harness.subresults import each
from harness.twin import rows, same, same_gradients

PRELUDE = "f = torch.fft; s = torch.special; S = torch.signal.windows; o = x.double(); h = torch.hann_window(8); "

SMOOTH = """
f.fft(x)
f.fft(x, 3)
f.fft(x, n=6, dim=0, norm="ortho")
f.ifft(x, norm="forward")
f.rfft(x)
f.irfft(x)
f.irfft(x, n=7)
f.hfft(x)
f.ihfft(x)
f.fft2(b)
f.ifft2(b, s=(2, 5))
f.rfft2(b, norm="ortho")
f.irfft2(b)
f.fftn(b)
f.fftn(b, dim=(0, 2))
f.ifftn(b, s=(2, 2), dim=(0, 1))
f.rfftn(b)
f.irfftn(b)
f.hfftn(b, dim=(1, 2))
f.ihfftn(b)
f.hfft2(b)
f.ihfft2(b)
f.fftshift(x)
f.ifftshift(x, dim=1)
torch.stft(w.repeat(4), 8, return_complex=True)
torch.stft(w.repeat(2, 4), 8, 4, 6, torch.hann_window(6), return_complex=True)
torch.stft(w.repeat(4), 8, center=False, normalized=True, onesided=False, return_complex=True)
torch.stft(w.repeat(4), 8, 3, pad_mode="constant", return_complex=False)
torch.istft(torch.stft(w.repeat(4), 8, window=h, return_complex=True), 8, window=h)
torch.istft(torch.stft(w.repeat(4), 8, return_complex=True), 8, length=18)
w.repeat(4).stft(8, return_complex=True)
torch.stft(w.repeat(4), 8, 2, 5, torch.ones(5), False, return_complex=True, align_to_window=True)
torch.stft(w.repeat(2, 4), 8, 2, 4, center=False, return_complex=True, align_to_window=True)
torch.stft(w.repeat(4), 8, 2, 5, torch.ones(5), center=False, return_complex=True, align_to_window=False)
s.expit(x)
s.erf(x)
s.erfcx(x)
s.erfinv(x / 4)
s.gammaln(p)
s.digamma(p)
s.psi(p)
s.polygamma(2, p)
s.i0e(x)
s.i1(x)
s.i1e(x)
s.entr(p)
s.ndtr(x)
s.ndtri(torch.sigmoid(x))
s.log_ndtr(x)
s.logit(torch.sigmoid(x))
s.logsumexp(x, 1)
s.softmax(x, 1)
s.log_softmax(x, 0)
s.xlogy(p, p)
s.xlog1py(x, p)
s.exp2(x)
s.expm1(x)
s.sinc(x)
s.log1p(p)
s.erfc(x)
s.multigammaln(p + 2, 3)
"""
VALUES = """
torch.stft(w.repeat(4), 8, return_complex=True, align_to_window=True)
f.fft(i)
f.fft(z)
f.rfft(q)
f.fftfreq(5, 0.5)
f.rfftfreq(6, dtype=torch.float64)
f.fftfreq(4, out=torch.empty(4))
f.fft(x, out=torch.empty(3, 4, dtype=torch.complex64))
s.gammainc(p, p)
s.gammaincc(p, p)
s.zeta(p + 1, p)
s.zeta(2, p)
s.bessel_j0(o * 9)
s.bessel_j1(o * 9)
s.bessel_y0(p * 9)
s.bessel_y1(p * 9)
s.bessel_j0(torch.tensor([inf, 0.0, nan]))
s.spherical_bessel_j0(o)
s.modified_bessel_i0(o)
s.modified_bessel_i1(o)
s.modified_bessel_k0(p * 3)
s.modified_bessel_k1(p * 3)
s.modified_bessel_k0(torch.tensor([0.0, -1.0, inf, nan, 800.0, 1e-5]))
s.modified_bessel_k1(torch.tensor([0.0, -1.0, inf, nan, 2.0, 1e-5]))
s.scaled_modified_bessel_k0(p * 30)
s.scaled_modified_bessel_k1(p * 30)
s.airy_ai(o * 6)
s.airy_ai(i)
s.airy_ai(torch.tensor([0.0, -30.0, 90.0, inf, -inf, nan]).double())
s.multigammaln(i + 8, 2)
s.multigammaln(p, 0)
s.round(x, decimals=1)
s.chebyshev_polynomial_t(3, j)
s.chebyshev_polynomial_t(3, 2)
s.hermite_polynomial_h(x, 200)
s.hermite_polynomial_h(x, 600)
s.laguerre_polynomial_l(x, torch.tensor([nan, 2.0, -1.0, inf]))
s.legendre_polynomial_p(x, 3, out=torch.empty(0))
torch.stft(w.repeat(4), 8)
torch.stft(w, 64, return_complex=True)
torch.stft(w.repeat(4), 8, win_length=9, return_complex=True)
torch.stft(w.repeat(4), 8, window=torch.ones(7), return_complex=True)
torch.istft(x, 8)
torch.istft(z, 9)
f.fft(x, 0)
f.fft(x, dim=4)
f.fft(x, norm="best")
f.fft2(v)
f.fftn(x, s=(2,), dim=(0, 1))
torch.hann_window(0)
torch.hann_window(1)
torch.hann_window(-1)
torch.hann_window(4, dtype=torch.int64)
S.hann(-1)
S.hann(4, dtype=torch.float16)
S.exponential(4, tau=0)
S.exponential(4, center=1)
S.exponential(4, center=1.5, sym=False, tau=2.0)
S.gaussian(4, std=0)
S.kaiser(4, beta=-1)
S.general_cosine(4, a=())
S.general_cosine(4, a=1)
"""
POLYNOMIALS = [prefix + name for prefix, names in (
    ("", ("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p")),
    ("", tuple(f"chebyshev_polynomial_{kind}" for kind in "tuvw")),
    ("shifted_", tuple(f"chebyshev_polynomial_{kind}" for kind in "tuvw"))) for name in names]
DEGREES = ("0", "1", "2", "5", "12", "-1", "i + 2", "i + 8", "i * 1.5", "torch.tensor(7)")
WINDOWS = """
torch.hann_window({})
torch.hamming_window({}, True, alpha=0.5, beta=0.4)
torch.blackman_window({})
torch.bartlett_window({})
torch.kaiser_window({}, True, beta=4.0)
torch.hann_window({}, False)
torch.hamming_window({}, periodic=False)
torch.blackman_window({}, False, dtype=torch.float64)
torch.bartlett_window({}, False)
torch.kaiser_window({}, False)
torch.hann_window({}, dtype=torch.bfloat16)
S.hann({})
S.hann({}, sym=False)
S.hamming({})
S.blackman({}, sym=False, dtype=torch.float64)
S.nuttall({})
S.bartlett({})
S.bartlett({}, sym=False)
S.cosine({})
S.cosine({}, sym=False)
S.exponential({}, tau=2.0)
S.exponential({}, sym=False)
S.gaussian({}, std=0.7)
S.gaussian({}, std=0.7, sym=False)
S.kaiser({}, beta=3.0)
S.kaiser({}, sym=False)
S.general_hamming({}, alpha=0.6)
S.general_cosine({}, a=[0.5, 0.3, 0.2], sym=False)
"""


@each("row", rows(SMOOTH + VALUES))
def test_value(row):
    same(PRELUDE + row)


@each("row", rows(SMOOTH))
def test_gradient(row):
    name = next(name for name in "xbwp" if f"({name}" in row or row.startswith(name) or f", {name})" in row)
    same_gradients(PRELUDE + row, name)


@each("degree", DEGREES)
@each("name", POLYNOMIALS)
def test_polynomial(name, degree):
    same(f"{PRELUDE}torch.special.{name}(o, {degree})", 1e-7)


@pytest.mark.parametrize("row", rows(WINDOWS))
def test_window(row):
    for length in (0, 1, 2, 7, 8):
        same(PRELUDE + row.format(length), 2e-2 if "bfloat16" in row else 1e-6)


@pytest.mark.parametrize("n", [1, 2, 6, 7, 31, 64, 100, 127, 202])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_has_no_imaginary_part_has_exactly_none(n, dtype):
    import numpy

    from dragon.vm import torch
    for seed in range(3):
        x = torch.tensor(numpy.random.default_rng(seed).standard_normal((5, n)).astype(dtype))
        for y in (torch.fft.rfft(x), torch.fft.ihfft(x), torch.fft.rfft(x, norm="ortho")):
            own_mirror = y.imag[:, ::n // 2] if n % 2 == 0 else y.imag[:, :1]
            assert own_mirror.tolist() == [[0.0] * own_mirror.shape[1]] * 5
