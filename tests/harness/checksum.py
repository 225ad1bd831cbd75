"""CRC-32C bit by bit: slow, and right by its definition."""
POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
ONES = 0xFFFFFFFF


def crc32c(data):
    """Return the CRC-32C of bytes."""
    state = ONES
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (POLYNOMIAL if state & 1 else 0)
    return state ^ ONES
