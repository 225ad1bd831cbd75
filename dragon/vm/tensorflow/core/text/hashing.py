"""The hash of strings in old models: Appleby's MurmurHash64A, https://github.com/aappleby/smhasher."""
FACTOR, SHIFT, SEED, MASK = 0xC6A4A7935BD1E995, 47, 0xDECAFCAFFE, (1 << 64) - 1


def old_hash(text):
    """Return the 64-bit hash of bytes."""
    state = SEED ^ len(text) * FACTOR & MASK
    whole = len(text) // 8 * 8
    for at in range(0, whole, 8):
        word = int.from_bytes(text[at:at + 8], "little") * FACTOR & MASK
        state = (state ^ (word ^ word >> SHIFT) * FACTOR & MASK) * FACTOR & MASK
    if whole < len(text):
        state = (state ^ int.from_bytes(text[whole:], "little")) * FACTOR & MASK
    state = (state ^ state >> SHIFT) * FACTOR & MASK
    return state ^ state >> SHIFT
