"""`tf.audio`: sounds in files of the format WAV."""
from dragon.vm.shared.files.audio import decode_wav, encode_wav  # noqa: F401
