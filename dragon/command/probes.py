"""What `dragon doctor` looks at: each probe tells of one thing on this machine whether it is fine, slow or missing."""
import os
from collections import namedtuple

from dragon.vm.alias import MARK

FINE, SLOW, MISSING = "fine", "slow", "missing"
GIB = 1 << 30
# `optional`: missing without harm to what is installed.
Finding = namedtuple("Finding", "name state reason mend optional", defaults=("", False))
LEVELS = ("v2", "v3", "v4")
ONLY_LEVEL = "generic"  # of 64-bit ARM
# Flags of the processor that a level stands for.
LEVEL_FLAGS = {"v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}, "v3": {"avx2", "fma", "bmi2", "f16c"}}
# Extra, the packages that it brings as they are imported, and what they unlock.
PACKAGES = (("onnx", ("onnx", "ml_dtypes"), "export to ONNX and NumPy's bfloat16"),
            ("vision", ("PIL",), "pictures in torchvision and tf.io"),
            ("keras", ("h5py",), "Keras's files of models and weights"),
            ("proto", ("google.protobuf",), "graphs as messages of protobuf"),
            ("data", ("pyarrow", "fsspec", "zstandard"), "tables of Arrow, files of other machines, Zstandard"),
            ("demo", ("sklearn",), "the demo, and Keras's wrappers for scikit-learn"))
SHADOWED = ("torch", "torchvision", "tensorflow", "keras", "dragon", "numpy", "random", "onnx")


def level(machine, config):
    """Say whether the best instructions of the processor are used."""
    name = "instruction set"
    if config is None:
        return
    flags = machine.flags()
    best = next((level for level in ("v4", "v3") if LEVEL_FLAGS[level] <= flags), "v2")
    used = config.cpu_level()
    if used == ONLY_LEVEL:
        yield Finding(name, FINE, f"kernels of level {used}, the only one for processors of this kind")
    elif not flags or used not in LEVELS:
        yield Finding(name, FINE, f"kernels of level {used} are in use; the system does not say what the processor has")
    elif LEVELS.index(used) >= LEVELS.index(best):
        yield Finding(name, FINE, f"kernels of level {used}, the best of this processor")
    elif machine.variable("DRAGON_CPU_LEVEL"):
        yield Finding(name, SLOW, f"kernels of level {used} since DRAGON_CPU_LEVEL says so; the processor has {best}",
                      "unset DRAGON_CPU_LEVEL")
    else:
        yield Finding(name, SLOW, f"kernels of level {used}; the processor has {best}, which this build lacks",
                      "install a wheel, which has all levels, or run `make build` on this machine")


def threads(machine, config):
    """Say whether there are as many threads as processors that may be used."""
    name = "threads"
    allowed, quota = machine.processors(), machine.quota()
    limit = min(allowed, max(int(quota + 0.999), 1)) if quota else allowed
    cores = machine.cores()
    where = f"{machine.present()} processors" + (f" on {cores} cores" if cores else "") + (
        f", {allowed} allowed" if allowed != machine.present() else "") + (
        f", time for {quota:g} granted" if quota and quota < allowed else "")
    if config is None:
        return
    count = config.get_num_threads()
    if count > limit:
        yield Finding(name, SLOW, f"{count} threads for {limit} processors ({where}): they wait for each other",
                      f"unset DRAGON_NUM_THREADS and OMP_NUM_THREADS, or set DRAGON_NUM_THREADS={limit}")
    elif count < min(limit, cores or limit):
        said = [f"{word}={machine.variable(word)}" for word in ("DRAGON_NUM_THREADS", "OMP_NUM_THREADS")
                if machine.variable(word)]
        yield Finding(name, SLOW, f"{count} threads, and {limit} processors may be used ({where})",
                      f"unset {' and '.join(word.partition('=')[0] for word in said)}" if said else
                      f"DRAGON_NUM_THREADS={limit}")
    else:
        yield Finding(name, FINE, f"{count} threads ({where})")


def openmp(machine, config):
    """Say whether settings of OpenMP stand in the way."""
    policy, binding = machine.variable("OMP_WAIT_POLICY").lower(), machine.variable("OMP_PROC_BIND").lower()
    bound = machine.variable("GOMP_CPU_AFFINITY")
    if policy == "passive":
        yield Finding("OpenMP", SLOW, "OMP_WAIT_POLICY=passive: threads sleep between two small operators",
                      "unset OMP_WAIT_POLICY")
    elif bound or binding in ("true", "close", "spread", "master", "primary"):
        word = "GOMP_CPU_AFFINITY" if bound else "OMP_PROC_BIND"
        yield Finding("OpenMP", SLOW, f"{word}={machine.variable(word)} ties threads to processors: several programs, "
                      "or workers that read data, come to share them",
                      f"unset {word} unless one program has the machine")
    else:
        yield Finding("OpenMP", FINE, "no setting stands in the way")


def load(machine, config):
    """Say whether other programs have the processors."""
    words = machine.read("/proc/loadavg").split()
    try:
        busy = float(words[0])
    except (IndexError, ValueError):
        return
    present = machine.present()
    if busy > 1.5 * present:
        yield Finding("load", SLOW, f"{busy:.1f} programs want {present} processors", "wait for others to end, or stop "
                                                                                      "them")
    else:
        yield Finding("load", FINE, f"{busy:.1f} of {present} processors are wanted")


def governor(machine, config):
    """Say whether the clock may rise."""
    said = machine.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip()
    if not said:
        return
    if said == "powersave" and not machine.exists("/sys/devices/system/cpu/intel_pstate"):
        yield Finding("clock", SLOW, "the governor is 'powersave', which keeps the clock low",
                      "cpupower frequency-set -g performance")
    elif machine.read("/sys/devices/system/cpu/intel_pstate/no_turbo").strip() == "1":
        yield Finding("clock", SLOW, "turbo is off", "write 0 to /sys/devices/system/cpu/intel_pstate/no_turbo")
    else:
        yield Finding("clock", FINE, f"the governor is {said!r}")


def huge_pages(machine, config):
    """Say whether large blocks of memory get huge pages."""
    said = machine.read("/sys/kernel/mm/transparent_hugepage/enabled")
    if not said:
        return
    chosen = said.partition("[")[2].partition("]")[0]
    if chosen == "never":
        yield Finding("huge pages", SLOW, "the system gives none: fresh tensors cost more",
                      "write madvise to /sys/kernel/mm/transparent_hugepage/enabled")
    else:
        yield Finding("huge pages", FINE, f"the system gives them ({chosen})")


def memory(machine, config):
    """Say whether memory is short or being swapped."""
    facts, limit = machine.memory(), machine.memory_limit()
    if not facts:
        return
    total, free = facts.get("MemTotal", 0), facts.get("MemAvailable", 0)
    granted = f", the container grants {limit / GIB:.1f} GiB" if limit and limit < total else ""
    told = f"{free / GIB:.1f} of {total / GIB:.1f} GiB are free{granted}"
    swapped = facts.get("SwapTotal", 0) - facts.get("SwapFree", 0)
    if swapped > GIB and free < 0.1 * total:
        yield Finding("memory", SLOW, f"{told}; {swapped / GIB:.1f} GiB are swapped out",
                      "end other programs, or take smaller batches")
    elif free < 0.05 * total:
        yield Finding("memory", SLOW, f"{told}: the system is about to swap or to end programs",
                      "end other programs, or take smaller batches")
    else:
        yield Finding("memory", FINE, told)


def shared_memory(machine, config):
    """Say whether workers can hand over batches."""
    space = machine.free_space("/dev/shm")
    if space is None:
        yield Finding("/dev/shm", MISSING, "workers of a DataLoader hand batches over there, and it cannot be used",
                      "mount it: mount -t tmpfs -o size=2g tmpfs /dev/shm")
    elif space[1] < 256 << 20:
        yield Finding("/dev/shm", SLOW, f"{space[1] >> 20} MiB are free for batches of a DataLoader's workers",
                      "start the container with --shm-size=2g, or use num_workers=0")
    else:
        yield Finding("/dev/shm", FINE, f"{space[1] / GIB:.1f} GiB for batches of a DataLoader's workers")


def packages(machine, config):
    """Say which optional packages are there, and what the others would unlock."""
    for extra, names, unlocks in PACKAGES:
        absent = [name for name in names if not has(machine, name)]
        if absent:
            yield Finding(extra, MISSING, f"no {' and no '.join(absent)}: {unlocks}", install(extra), True)
        else:
            yield Finding(extra, FINE, unlocks)


def has(machine, name):
    """Return whether a package is installed, which is not imported for that."""
    root, _, rest = name.partition(".")
    spec = machine.spec(root)
    if spec is None or not rest:
        return spec is not None
    return any(os.path.exists(os.path.join(place, *rest.split("."))) for place in spec.submodule_search_locations or ())


def install(extra):
    """Return the words that install an extra."""
    from dragon.core.distribution import install_words
    return install_words(extra)


def genuine(machine, config):
    """Say which genuine frameworks lie beside Dragon."""
    names = [name for name in ("torch", "tensorflow", "keras") if has(machine, name)]
    ours = [name for name in names if any(os.path.exists(os.path.join(place, MARK)) for place in
                                          machine.spec(name).submodule_search_locations or ())]
    there = [name for name in names if name not in ours]
    if ours:
        yield Finding("guests", FINE, f"{', '.join(ours)}: plain `python` runs on Dragon, by `dragon guest install`")
    if there:
        yield Finding("genuine frameworks", FINE, f"{', '.join(there)}: `dragon run` leaves them unread, "
                                                  "`dragon verify` compares with them")
    else:
        yield Finding("genuine frameworks", MISSING, "`dragon verify` needs the one to compare with",
                      "pip install torch, or tensorflow", True)


def shadows(machine, config):
    """Say whether files of the working folder would be imported for packages."""
    found = machine.shadows(SHADOWED)
    if found:
        yield Finding("modules", SLOW, f"{', '.join(found)} would be imported in the place of the package",
                      "rename, or start programs from another folder")
    else:
        yield Finding("modules", FINE, "no file here stands in the way of a package")


def cuda(machine, config):
    """Say whether a CUDA device can be used, and if not, what is missing."""
    count = config.device_count("cuda") if config is not None else 0
    driver = machine.read("/proc/driver/nvidia/version").partition("\n")[0]
    device = machine.exists("/dev/nvidia0") or machine.exists("/dev/dxg")
    if count:
        yield Finding("CUDA", FINE, f"{count} devices")
    elif not driver and not device:
        yield Finding("CUDA", FINE, "no NVIDIA device on this machine: work is done by the processor")
    elif driver and not device:
        yield Finding("CUDA", MISSING, f"a driver ({driver}), and no device in this container",
                      "start the container with --gpus all")
    elif not has_cuda_library(config):
        yield Finding("CUDA", MISSING, "a device, and a build of Dragon without CUDA",
                      f"{install('cuda')}, or build with nvcc")
    elif machine.variable("CUDA_VISIBLE_DEVICES") in ("-1", "none") or (
            "CUDA_VISIBLE_DEVICES" in machine.environment and not machine.variable("CUDA_VISIBLE_DEVICES")):
        yield Finding("CUDA", MISSING, "CUDA_VISIBLE_DEVICES hides all devices", "unset CUDA_VISIBLE_DEVICES")
    else:
        yield Finding("CUDA", MISSING, "a device that the driver's library does not offer",
                      "compare `nvidia-smi` with the driver's version; libcuda.so.1 must be found")


def has_cuda_library(config):
    """Return whether this build has kernels for CUDA."""
    if config is None:
        return False
    try:
        return any("cuda" in name for name in os.listdir(config.library_folder()))
    except OSError:
        return False


def caches(machine, config):
    """Say whether data sets and weights that are downloaded can be kept."""
    for word, usual, what in (("TORCH_HOME", "~/.cache/torch", "torch.hub"), ("KERAS_HOME", "~/.keras", "Keras")):
        home = machine.variable("HOME") or os.path.expanduser("~")
        path = machine.variable(word) or usual.replace("~", home)
        if machine.variable("XDG_CACHE_HOME") and word == "TORCH_HOME" and not machine.variable(word):
            path = os.path.join(machine.variable("XDG_CACHE_HOME"), "torch")
        there = path
        while there and not os.path.exists(there) and os.path.dirname(there) != there:
            there = os.path.dirname(there)
        if os.access(there, os.W_OK):
            yield Finding(f"downloads of {what}", FINE, f"kept in {path}")
        else:
            yield Finding(f"downloads of {what}", MISSING, f"{path} cannot be written: every run downloads again, or "
                          "fails", f"set {word} to a folder that can be written")


def disk(machine, config):
    """Say whether the working folder lies on a disk that is slow or full."""
    device = mount_of(machine, os.path.realpath(machine.folder))
    space = None
    try:
        usage = machine.disk(str(machine.folder))
        space = usage[2]
    except OSError:
        pass
    free = "" if space is None else f", {space / GIB:.1f} GiB free"
    if space is not None and space < 1 << 29:
        yield Finding("disk", SLOW, f"{space >> 20} MiB are free here: checkpoints may not fit", "free some space")
    elif device and device[1] in ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "drvfs", "vboxsf", "fuse.gcsfuse"):
        yield Finding("disk", SLOW, f"this folder lies on {device[1]}, far away: small files are slow to read",
                      "copy data to a local disk, or pack it into records (dragon.io)")
    elif device and is_rotating(machine, device[0]):
        yield Finding("disk", SLOW, f"this folder lies on a rotating disk{free}: many small files are slow to read",
                      "copy data to an SSD, or pack it into records (dragon.io)")
    else:
        yield Finding("disk", FINE, f"this folder lies on {device[1] if device else 'a disk'}{free}")


def mount_of(machine, folder):
    """Return (device, kind) of the file system of a folder, or None where the system does not say."""
    best = None
    for line in machine.read("/proc/mounts").splitlines():
        words = line.split()
        if len(words) > 2 and (folder + "/").startswith(words[1].rstrip("/") + "/"):
            if best is None or len(words[1]) >= len(best[2]):
                best = words[0], words[2], words[1]
    return best and best[:2]


def is_rotating(machine, device):
    """Return whether a disk turns; a machine of the cloud says so of disks that do not."""
    if machine.exists("/sys/hypervisor") or "hypervisor" in machine.flags():
        return False
    name = os.path.basename(device)
    return any(machine.read(f"/sys/block/{disk}/queue/rotational").strip() == "1"
               for disk in {name, name.rstrip("0123456789")})


def settings(machine, config):
    """Say whether settings for debugging are left on."""
    slow = [(word, value, what) for word, value, what in (
        ("DRAGON_ALLOCATOR", machine.variable("DRAGON_ALLOCATOR"), "each tensor asks the system for memory"),
        ("DRAGON_VERIFY_PASSES", machine.variable("DRAGON_VERIFY_PASSES"), "each pass over a graph is checked"),
        ("DRAGON_GRAPH_LEVEL", machine.variable("DRAGON_GRAPH_LEVEL"), "graphs are not fully optimised"),
        ("PYTHONDEVMODE", machine.variable("PYTHONDEVMODE"), "Python checks itself"),
        ("PYTHONTRACEMALLOC", machine.variable("PYTHONTRACEMALLOC"), "Python notes every allocation"),
        ("CUDA_LAUNCH_BLOCKING", machine.variable("CUDA_LAUNCH_BLOCKING"), "each kernel is waited for"))
        if value and value != "0" and (word, value) not in (
            ("DRAGON_ALLOCATOR", "caching"), ("DRAGON_GRAPH_LEVEL", "3"))] + [
        ("DRAGON_GRAPH_LEVEL", "0", "graphs run as they were written down")] * (
            machine.variable("DRAGON_GRAPH_LEVEL") == "0")
    for word, value, what in slow:
        yield Finding("settings", SLOW, f"{word}={value}: {what}", f"unset {word}")
    if not slow:
        yield Finding("settings", FINE, "nothing for debugging is switched on")


PROBES = (level, threads, openmp, load, governor, huge_pages, memory, shared_memory, cuda, settings, shadows, disk,
          caches, genuine, packages)
