"""CRC-32C, the checksum of TFRecord files, by tables that NumPy looks up for many bytes at once.

The checksum is linear: that of a message is the sum (by exclusive or) of what each byte contributes from its place.
"""
import functools

POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
WIDTH = 1024  # bytes whose contributions have a table each
SHORT = 24  # up to so many bytes, a loop over them is quicker than NumPy
ONES = 0xFFFFFFFF
MASK_STEP = 0xA282EAD8


@functools.cache
def _byte_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


@functools.cache
def _place_tables():
    """Return an array [places from the end, value of the byte] of contributions."""
    import numpy as np
    first = np.array(_byte_table(), np.uint32)
    tables = np.empty((WIDTH + 4, 256), np.uint32)
    tables[0] = first
    for place in range(1, WIDTH + 4):
        before = tables[place - 1]
        tables[place] = before >> 8 ^ first[before & 0xFF]
    # From the last place to the first, flattened: one index finds place and value.
    return np.ascontiguousarray(tables[::-1]).reshape(-1), np.arange(WIDTH + 4, dtype=np.int32) * 256


def crc32c(data):
    """Return the CRC-32C of bytes."""
    if len(data) <= SHORT:
        table, state = _byte_table(), ONES
        for byte in data:
            state = state >> 8 ^ table[(state ^ byte) & 0xFF]
        return state ^ ONES
    import numpy as np
    table, offsets = _place_tables()
    numbers = np.frombuffer(data, np.uint8)
    state, total = ONES, len(numbers)
    for start in range(0, total, WIDTH):
        part = numbers[start:start + WIDTH].astype(np.int32)
        # What came before acts as four bytes added to the first ones of this part.
        part[:4] ^= np.frombuffer(state.to_bytes(4, "little"), np.uint8)[:len(part)]
        part += offsets[-len(part):]
        left = state >> 8 * len(part) if len(part) < 4 else 0
        state = int(np.bitwise_xor.reduce(table.take(part))) ^ left
    return state ^ ONES


def masked(data):
    """Return the CRC-32C of bytes, turned and moved so that it can be stored beside them."""
    value = crc32c(data)
    return ((value >> 15 | value << 17) + MASK_STEP) & ONES
