"""`tf.signal` beside genuine one."""
import pytest
from harness.expressions import check
from harness.subresults import each

C = "tf.complex(tf.reshape(tf.cos(tf.range(24.)), [2, 3, 4]), tf.reshape(tf.sin(tf.range(24.)), [2, 3, 4]))"
R, S = "tf.reshape(tf.cos(tf.range(24.)), [2, 3, 4])", "tf.sin(tf.range(40.) * 0.7)"
EXPRESSIONS = f"""
tf.signal.fft({C})
tf.signal.fft2d({C})
tf.signal.fft3d({C})
tf.signal.ifft({C})
tf.signal.ifft2d({C})
tf.signal.ifft3d({C})
tf.signal.rfft({R})
tf.signal.rfft({R}, [6])
tf.signal.rfft2d({R})
tf.signal.rfft3d({R})
tf.signal.irfft({C})
tf.signal.irfft({C}, [5])
tf.signal.irfft2d({C})
tf.signal.fft([1., 2.])
tf.signal.fftshift({R})
tf.signal.ifftshift({R}, axes=1)
tf.signal.hann_window(8)
tf.signal.hann_window(7, periodic=False)
tf.signal.hann_window(7)
tf.signal.hamming_window(6)
tf.signal.kaiser_window(9)
tf.signal.kaiser_window(8, beta=5.)
tf.signal.kaiser_bessel_derived_window(8)
tf.signal.vorbis_window(8)
tf.signal.frame({S}, 6, 4)
tf.signal.frame({S}, 6, 4, pad_end=True, pad_value=9.)
tf.signal.frame({R}, 2, 1, axis=1)
tf.signal.frame([1., 2.], 6, 4)
tf.signal.overlap_and_add({R}, 2)
tf.signal.stft({S}, 12, 5)
tf.signal.stft({S}, 12, 5, fft_length=20, window_fn=None, pad_end=True)
tf.signal.inverse_stft(tf.signal.stft({S}, 12, 4), 12, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
tf.signal.dct({R})
tf.signal.dct({R}, type=1)
tf.signal.dct({R}, type=3)
tf.signal.dct({R}, type=4)
tf.signal.dct({R}, norm="ortho")
tf.signal.dct({R}, type=3, norm="ortho")
tf.signal.dct({R}, type=4, norm="ortho")
tf.signal.dct({R}, n=3)
tf.signal.dct({R}, n=6)
tf.signal.dct({R}, type=5)
tf.signal.dct({R}, axis=0)
tf.signal.idct({R})
tf.signal.idct({R}, norm="ortho")
tf.signal.idct({R}, type=3)
tf.signal.mdct({S}, 8)
tf.signal.mdct({S}, 8, norm="ortho", pad_end=True)
tf.signal.mdct({S}, 6)
tf.signal.inverse_mdct(tf.signal.mdct({S}, 8))
tf.signal.inverse_mdct(tf.signal.mdct({S}, 8, norm="ortho"), norm="ortho")
tf.signal.linear_to_mel_weight_matrix(6, 33, 8000)
tf.signal.linear_to_mel_weight_matrix(6, 33, 8000, upper_edge_hertz=9000.)
tf.signal.mfccs_from_log_mel_spectrograms({R})
"""


@each("text", EXPRESSIONS.strip().split("\n"))
def test_expression(text):
    check(text, 2e-4)


@pytest.mark.parametrize("text", ["stft(v, 8, 4)", "dct(v)", "frame(v, 4, 2)", "mdct(v, 8)"])
def test_gradient(text):
    check(f"""
v = tf.Variable(tf.sin(tf.range(20.)))
with tf.GradientTape() as t: y = tf.abs(tf.signal.{text}) ** 2.
return t.gradient(y, v)""", 1e-3)
