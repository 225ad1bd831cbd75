"""What `dragon doctor` measures: products of matrices and copies of memory, beside what the processor should reach."""
import time

from dragon.command.probes import FINE, SLOW, Finding

SIZE = 1024  # of the matrices
BYTES = 64 << 20  # of what is copied: more than caches hold
# Products and sums of float32 that a core does per cycle at a level, by its vectors and units.
PER_CYCLE = {"v4": 64, "v3": 32, "v2": 8}
SHARE = 0.4  # of the peak below which a product is called slow: neighbours and a low clock explain the rest
LEAST_COPY = 3e9  # bytes a second, read and written, that any machine of the last ten years copies


def measure(machine):
    """Return findings about the speed of arithmetic and of memory."""
    from dragon.core import config
    flops, copied = product_speed(), copy_speed()
    threads = min(config.get_num_threads(), machine.cores() or config.get_num_threads())
    clock = clock_of(machine)
    peak = clock and clock * PER_CYCLE.get(config.cpu_level(), 8) * threads
    findings = []
    told = f"{flops / 1e9:.0f} GFLOP/s for matrices of {SIZE} x {SIZE}"
    if not peak:
        findings.append(Finding("arithmetic", FINE, told + "; the system does not say what the clock is"))
    elif flops < SHARE * peak:
        findings.append(Finding("arithmetic", SLOW, f"{told}, of about {peak / 1e9:.0f} that {threads} threads can do "
                                f"at {clock / 1e9:.1f} GHz", "see instruction set, threads, load and clock above"))
    else:
        findings.append(Finding("arithmetic", FINE, f"{told}, of about {peak / 1e9:.0f} at {clock / 1e9:.1f} GHz"))
    told = f"{copied / 1e9:.1f} GB/s for a copy, read and written"
    if copied < LEAST_COPY:
        findings.append(Finding("memory speed", SLOW, told, "see load, memory and huge pages above"))
    else:
        findings.append(Finding("memory speed", FINE, told))
    return findings


def best_time(action, seconds=0.4):
    """Return the shortest time that an action takes, tried for a while."""
    action()
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        action()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            return best


def product_speed():
    """Return how many operations a second a product of matrices of float32 does."""
    import dragon
    x = dragon.full((SIZE, SIZE), 1.5)
    with dragon.no_grad():
        return 2 * SIZE ** 3 / best_time(lambda: x @ x)


def copy_speed():
    """Return how many bytes a second a copy reads and writes."""
    import dragon
    x, y = dragon.zeros((BYTES // 4,)), dragon.zeros((BYTES // 4,))
    with dragon.no_grad():
        return 2 * BYTES / best_time(lambda: y.__setitem__(..., x))


def clock_of(machine):
    """Return the processor's clock in Hz, or None: the highest that the system tells."""
    most = machine.number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
    if most:
        return most * 1e3
    seen = []
    for line in machine.read("/proc/cpuinfo").splitlines():
        if line.startswith("cpu MHz"):
            try:
                seen.append(float(line.partition(":")[2]))
            except ValueError:
                pass
    return max(seen) * 1e6 if seen else None
