"""Hashes of strings that TensorFlow's are equal to: FarmHash's 64-bit fingerprint, SipHash, and their use for buckets.

Short strings, which features mostly are, are hashed all at once, as columns of unsigned numbers; products wrap around.
"""

K0, K1, K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
CAT = 0xC6A4A7935BD1E995
MASK = (1 << 64) - 1
CROSS_KEY = 0xDECAFCAFFE


def _rotate(x, bits):
    """Rotate a number of 64 bits to the right."""
    return (x >> bits | x << (64 - bits)) & MASK


def _mix(x):
    return x ^ x >> 47


def _sixteen(u, v, factor):
    """Hash 16 bytes."""
    a = _mix((u ^ v) * factor & MASK)
    return _mix((v ^ a) * factor & MASK) * factor & MASK


def _read(text, at, size=8):
    return int.from_bytes(text[at:at + size], "little")


def _weak(text, at, a, b):
    """Hash 32 bytes into a pair with two seeds."""
    w, x, y, z = (_read(text, at + 8 * i) for i in range(4))
    a = a + w & MASK
    b = _rotate(b + a + z & MASK, 21)
    c = a
    a = a + x + y & MASK
    return a + z & MASK, b + _rotate(a, 44) + c & MASK


def _rounds(text, at, state, factor, last):
    """Take 64 bytes into the state of a long string; the last ones weigh some of it nine times."""
    x, y, z, v, w = state
    nine = 9 if last else 1
    x = _rotate(x + y + v[0] + _read(text, at + 8) & MASK, 37) * factor & MASK
    y = _rotate(y + v[1] + _read(text, at + 48) & MASK, 42) * factor & MASK
    x ^= w[1] * nine & MASK
    y = y + v[0] * nine + _read(text, at + 40) & MASK
    z = _rotate(z + w[0] & MASK, 33) * factor & MASK
    v = _weak(text, at, v[1] * factor & MASK, x + w[0] & MASK)
    w = _weak(text, at + 32, z + w[1] & MASK, y + _read(text, at + 16) & MASK)
    return z, y, x, v, w


def _long(text):
    """Hash a string of more than 64 bytes."""
    y = 81 * K1 + 113 & MASK
    state = (81 * K2 + _read(text, 0) & MASK, y, _mix(y * K2 + 113 & MASK) * K2 & MASK, (0, 0), (0, 0))
    end = (len(text) - 1) // 64 * 64
    for at in range(0, end, 64):
        state = _rounds(text, at, state, K1, False)
    x, y, z, v, w = state
    factor = K1 + ((z & 0xFF) << 1) & MASK
    rest = len(text) - 1 & 63
    w = (w[0] + rest & MASK, w[1])
    v = (v[0] + w[0] & MASK, v[1])
    w = (w[0] + v[0] & MASK, w[1])
    x, y, z, v, w = _rounds(text, end + rest - 63, (x, y, z, v, w), factor, True)
    first = _sixteen(v[0], w[0], factor) + _mix(y) * K0 + z
    return _sixteen(first & MASK, _sixteen(v[1], w[1], factor) + x & MASK, factor)


class _Columns:
    """Strings of similar lengths as a matrix of bytes."""

    def __init__(self, texts):
        import numpy as np
        self.np = np
        self.sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        width = max(int(self.sizes.max()), 8)
        self.bytes = np.frombuffer(b"".join(text.ljust(width, b"\0") for text in texts), np.uint8)
        self.bytes = self.bytes.reshape(len(texts), width).astype(np.uint64)
        self.rows = np.arange(len(texts))
        self.factor = self.number(K2) + (self.sizes * 2).astype(np.uint64)

    def number(self, value):
        return self.np.uint64(value & MASK)

    def read(self, at, size=8):
        """Return numbers at one place of all strings, from the end where it is negative."""
        start = self.sizes + at if at < 0 else self.np.full_like(self.sizes, at)
        made = self.np.zeros(len(self.sizes), self.np.uint64)
        for i in range(size):
            made |= self.bytes[self.rows, start + i] << self.np.uint64(8 * i)
        return made

    def rotate(self, x, bits):
        return x >> self.np.uint64(bits) | x << self.np.uint64(64 - bits)

    def mix(self, x):
        return x ^ x >> self.np.uint64(47)

    def sixteen(self, u, v):
        a = self.mix((u ^ v) * self.factor)
        return self.mix((v ^ a) * self.factor) * self.factor

    def up_to_3(self):
        middle = self.bytes[self.rows, self.sizes >> 1]
        y = self.bytes[:, 0] + (middle << self.np.uint64(8))
        z = self.sizes.astype(self.np.uint64) + (self.bytes[self.rows, self.sizes - 1] << self.np.uint64(2))
        return self.mix(y * self.number(K2) ^ z * self.number(K0)) * self.number(K2)

    def up_to_7(self):
        first = self.sizes.astype(self.np.uint64) + (self.read(0, 4) << self.np.uint64(3))
        return self.sixteen(first, self.read(-4, 4))

    def up_to_16(self):
        a, b = self.read(0) + self.number(K2), self.read(-8)
        return self.sixteen(self.rotate(b, 37) * self.factor + a, (self.rotate(a, 25) + b) * self.factor)

    def _ends(self, first):
        a, b = self.read(0) * self.number(first), self.read(8)
        c, d = self.read(-8) * self.factor, self.read(-16) * self.number(K2)
        y = self.rotate(a + b, 43) + self.rotate(c, 30) + d
        return a, y, a + self.rotate(b + self.number(K2), 18) + c

    def up_to_32(self):
        _, y, z = self._ends(K1)
        return self.sixteen(y, z)

    def up_to_64(self):
        a, y, z = self._ends(K2)
        z = self.sixteen(y, z)
        e, f = self.read(16) * self.factor, self.read(24)
        g, h = (y + self.read(-32)) * self.factor, (z + self.read(-24)) * self.factor
        return self.sixteen(self.rotate(e + f, 43) + self.rotate(g, 30) + h, e + self.rotate(f + a, 18) + g)


CLASSES = ((1, 3, _Columns.up_to_3), (4, 7, _Columns.up_to_7), (8, 16, _Columns.up_to_16),
           (17, 32, _Columns.up_to_32), (33, 64, _Columns.up_to_64))


def fingerprint64(texts):
    """Return FarmHash's fingerprints of strings as an array of uint64.

    Parameters
    ----------
    texts : Sequence[bytes]
        The strings.

    """
    import numpy as np
    texts = list(texts)
    made = np.full(len(texts), K2, np.uint64)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    for least, most, function in CLASSES:
        chosen = np.flatnonzero((sizes >= least) & (sizes <= most))
        if len(chosen):
            made[chosen] = function(_Columns([texts[i] for i in chosen]))
    for i in np.flatnonzero(sizes > 64):
        made[i] = _long(texts[i])
    return made


def concatenated(first, second):
    """Return the fingerprint of two fingerprints, each an array of uint64 or a number."""
    import numpy as np
    factor = np.uint64(CAT)
    with np.errstate(over="ignore"):
        made = np.asarray(first, np.uint64) ^ factor
        made = (made ^ _shifted(second * factor) * factor) * factor
        return _shifted(_shifted(made) * factor)


def _shifted(x):
    import numpy as np
    return x ^ x >> np.uint64(47)


def siphash(text, key):
    """Return SipHash-2-4 of a string with a key of two numbers.

    Parameters
    ----------
    text : bytes
        The string.
    key : Sequence[int]
        Two numbers of 64 bits.

    """
    k0, k1 = (part & MASK for part in key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    whole = len(text) // 8 * 8
    words = [_read(text, at) for at in range(0, whole, 8)]
    words.append(int.from_bytes(text[whole:], "little") | (len(text) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        _sip(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _sip(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _sip(v, rounds):
    a, b, c, d = v
    for _ in range(rounds):
        a = a + b & MASK
        b = _rotate(b, 51) ^ a
        a = _rotate(a, 32)
        c = c + d & MASK
        d = _rotate(d, 48) ^ c
        a = a + d & MASK
        d = _rotate(d, 43) ^ a
        c = c + b & MASK
        b = _rotate(b, 47) ^ c
        c = _rotate(c, 32)
    v[:] = a, b, c, d


def buckets(texts, count, key=None):
    """Return for each string the number of its bucket as int64: by FarmHash, or by SipHash with a key."""
    import numpy as np
    if key is None:
        hashes = fingerprint64(texts)
    else:
        known = {text: siphash(text, key) for text in set(texts)}
        hashes = np.array([known[text] for text in texts], np.uint64)
    return (hashes % np.uint64(count)).astype(np.int64)


def crossed_buckets(columns, count):
    """Return for each row the number of its bucket, by the fingerprints of all its columns.

    Parameters
    ----------
    columns : Sequence[numpy.ndarray]
        Vectors of bytes or of integers.
    count : int
        How many buckets there are.

    """
    import numpy as np
    made = np.uint64(CROSS_KEY)
    for column in columns:
        hashes = fingerprint64(column) if column.dtype == object else column.astype(np.int64).view(np.uint64)
        made = concatenated(made, hashes)
    return (made % np.uint64(count)).astype(np.int64)
