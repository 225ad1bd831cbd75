"""Spectrograms beside the genuine ones."""
import numpy as np
import pytest
from harness.keras_layer import check_layer, guest
from harness.subresults import each

SOUND = np.sin(np.arange(2 * 900).reshape(2, 900) ** 1.2 / 40).astype("float32")
SMALL = {"fft_length": 128, "sequence_stride": 64, "num_mel_bins": 12}


@pytest.mark.parametrize("config", [SMALL, {**SMALL, "power_to_db": False, "mag_exp": 1.0},
                                    {**SMALL, "sequence_length": 100, "window": "hamming", "max_freq": 6000.0,
                                     "ref_power": 2.0, "top_db": 40.0}])
@pytest.mark.parametrize("sound", [SOUND, SOUND[0]], ids=["batch", "one"])
def test_mel(config, sound):
    """Bands, as powers and as decibels."""
    check_layer("MelSpectrogram", sound, config, gradients=False, mixed=False, symbolic=sound.ndim == 2, atol=2e-3,
                rtol=1e-3)


@each("mode", ["log", "magnitude", "psd", "real", "imag", "angle", "stft"])
@each("more", [{}, {"padding": "same", "expand_dims": True, "scaling": "spectrum"}])
def test_stft(mode, more):
    """All modes, whose kernels are weights."""
    check_layer("STFTSpectrogram", SOUND[..., None], {"mode": mode, "frame_length": 64, "frame_step": 32, **more},
                weights=False, mixed=False, gradients=mode in ("psd", "real"), rtol=1e-3,
                atol=1e-1 if mode == "angle" else 1e-3)  # the angle of hardly anything is hardly known


def test_channels_first():
    """Several signals, and the other layout."""
    layers = guest("keras").layers
    x = np.stack([SOUND, -SOUND], 1)
    for expand in (False, True):
        first = layers.STFTSpectrogram(frame_length=64, expand_dims=expand, data_format="channels_first")
        last = layers.STFTSpectrogram(frame_length=64, expand_dims=expand)
        one, other = first(x).numpy(), last(x.transpose(0, 2, 1)).numpy()
        np.testing.assert_allclose(one, other.transpose(0, 3, 1, 2) if expand else other.transpose(0, 2, 1), rtol=1e-4,
                                   atol=1e-4)


@pytest.mark.parametrize("make, message", [
    (lambda layers: layers.MelSpectrogram(fft_length=10, sequence_length=20), "20"),
    (lambda layers: layers.STFTSpectrogram(mode="loud"), "mode=loud"),
    (lambda layers: layers.STFTSpectrogram(frame_step=0), "frame_step=0"),
    (lambda layers: layers.STFTSpectrogram(fft_length=8), "fft_length=8"),
])
def test_refusals(make, message):
    """Errors say what was received."""
    with pytest.raises(ValueError, match=message):
        make(guest("keras").layers)
