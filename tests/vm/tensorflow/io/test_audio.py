"""Sounds of `tf.audio` as genuine ones."""
import numpy as np
import pytest
from harness import genuine

from dragon.vm import tensorflow as dtf

SOUND = (np.sin(np.arange(60) / 3.0).astype(np.float32) * 1.2).reshape(30, 2)


@pytest.mark.parametrize("options", [
    {}, {"desired_channels": 1}, {"desired_channels": 3}, {"desired_samples": 20}, {"desired_samples": 40},
])
def test_sounds_are_decoded(options):
    file = genuine.tf.audio.encode_wav(SOUND, 16000).numpy()
    mine, theirs = dtf.audio.decode_wav(file, **options), genuine.tf.audio.decode_wav(file, **options)
    np.testing.assert_array_equal(mine.audio.numpy(), theirs.audio.numpy())
    assert int(mine.sample_rate) == int(theirs.sample_rate) == 16000


def test_sounds_are_encoded():
    file = dtf.audio.encode_wav(dtf.constant(SOUND), 8000).numpy()
    theirs = genuine.tf.audio.encode_wav(SOUND, 8000).numpy()
    assert len(file) == len(theirs)
    decoded = [genuine.tf.audio.decode_wav(data).audio.numpy() for data in (file, theirs)]
    np.testing.assert_allclose(decoded[0], decoded[1], atol=2.0 / 32768)


@pytest.mark.parametrize("call", [
    lambda tf: tf.audio.decode_wav(b"no sound"), lambda tf: tf.audio.encode_wav([1.0], 8000),
])
def test_bad_input_raises(call):
    for tf in (dtf, genuine.tf):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(tf)
