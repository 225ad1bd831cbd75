"""How much memory hostile input may ask for in a process of its own."""
import os
import resource


def limit_addresses(size):
    """Refuse this process more addresses; AddressSanitizer, whose shadow is larger than any limit, goes without."""
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
