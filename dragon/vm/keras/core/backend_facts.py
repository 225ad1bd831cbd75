"""What libraries ask of Keras's backend besides its functions."""

IS_THREAD_SAFE = True
SUPPORTS_COMPLEX_DTYPES = True
SUPPORTS_RAGGED_TENSORS = True
SUPPORTS_SPARSE_TENSORS = False


def random_seed_dtype():
    """Return the dtype that seeds have."""
    return "int64"
