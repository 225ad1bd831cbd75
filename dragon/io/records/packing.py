"""How the bodies of records are compressed: each for itself, so that any can be read alone."""
import importlib
import zlib

from dragon.core.distribution import install_words
from dragon.core.files import may_hold

PLAIN, ZLIB, ZSTD = 0, 1, 2
NUMBERS = {None: PLAIN, "zlib": ZLIB, "zstd": ZSTD}
FASTEST_USEFUL = {ZLIB: 1, ZSTD: 3}


def number_of(compression, who):
    """Return the number of a compression by its name, or raise a ValueError; zstd must be there."""
    if compression not in NUMBERS:
        raise ValueError(f"{who}: got compression {compression!r}, expected None, 'zlib' or 'zstd'")
    if NUMBERS[compression] == ZSTD:
        find_zstd(who)
    return NUMBERS[compression]


def find_zstd(who):
    """Return a module that knows Zstandard: Python's own where it has one, or the package."""
    try:
        return importlib.import_module("compression.zstd")
    except ImportError:
        pass
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        pass
    raise ModuleNotFoundError(f"{who}: got compression 'zstd', expected the package zstandard: "
                              f"{install_words('data')}", name="zstandard")


def pack(number, body, who):
    """Return (number, bytes) of a body: compressed, or as it is where that is no smaller or would not be read again."""
    if number == PLAIN:
        return PLAIN, body
    level = FASTEST_USEFUL[number]
    packed = zlib.compress(body, level) if number == ZLIB else find_zstd(who).compress(body, level)
    if len(packed) >= len(body) or not may_hold(len(body), len(packed)):
        return PLAIN, body
    return number, packed


def unpack(number, body, size):
    """Return the body that was compressed; the engine takes a ValueError for a broken record."""
    if not may_hold(size, len(body)):
        raise ValueError(f"a record of {len(body)} bytes that claims to hold {size}")
    if number == ZLIB:
        plain = _unpack_zlib(body, size)
    elif number == ZSTD:
        plain = _unpack_zstd(body, size)
    else:
        raise ValueError(f"compression {number}, which this version does not know")
    if len(plain) != size:
        raise ValueError(f"a compressed record of {len(plain)} bytes or more that claims to hold {size}")
    return plain


def _unpack_zlib(body, size):
    try:
        # One byte more than there should be, so that a longer one is noticed and no longer one is made.
        return zlib.decompressobj().decompress(body, size + 1)
    except zlib.error as error:
        raise ValueError(f"a compressed record that is broken: {error}") from None


def _unpack_zstd(body, size):
    module = find_zstd("KPLRecord")
    try:
        if module.__name__ == "zstandard":
            with module.ZstdDecompressor().stream_reader(body) as reader:
                return reader.read(size + 1)
        return module.ZstdDecompressor().decompress(body, size + 1)
    except Exception as error:  # of a class of either module
        raise ValueError(f"a compressed record that is broken: {error}") from None
