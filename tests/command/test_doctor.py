"""`dragon doctor` on machines of all sorts: faked files and variables, and a machine that says nothing at all."""
import io
import json
import types

import pytest

from dragon.command import doctor, probes, stopwatch
from dragon.command.machine import Machine

GIB = 1 << 30
CPU = "processor\t: {}\nphysical id\t: 0\ncore id\t: {}\nflags\t\t: fpu {}\ncpu MHz\t: 2000.5\n\n"
ARM = "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm crc32 cpuid\nCPU implementer\t: 0x41\n\n"
V3, V4 = "avx2 fma bmi2 f16c", "avx512f avx512bw avx512cd avx512dq avx512vl avx2 fma bmi2 f16c"
FILES = {
    "proc/cpuinfo": "".join(CPU.format(place, place // 2, V3) for place in range(8)),
    "proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\nSwapTotal: 4000000 kB\nSwapFree: 4000000 kB\n",
    "proc/loadavg": "0.50 0.40 0.30 1/200 3000\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "schedutil\n",
    "proc/mounts": "/dev/sda1 / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n",
    "sys/block/sda/queue/rotational": "0\n",
    "dev/shm/.": "",
}


def engine(level="v3", threads=4, devices=0, libraries=()):
    """Return what stands for the engine's settings."""
    return types.SimpleNamespace(cpu_level=lambda: level, get_num_threads=lambda: threads,
                                 device_count=lambda kind: devices, library_folder=lambda: "/nowhere")


@pytest.fixture
def machine(tmp_path):
    """Return a function that makes a machine of files and variables; a file of None is absent."""
    def make(files=(), environment=(), affinity=range(8), disk=lambda path: (64 * GIB, 0, 32 * GIB)):
        root = tmp_path / "root"
        for path, text in {**FILES, **dict(files)}.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                if not path.endswith("/."):
                    (root / path).write_text(text)
        here = tmp_path / "here"
        here.mkdir(exist_ok=True)
        return Machine(root, {"HOME": str(tmp_path), **dict(environment)}, set(affinity), here, disk)
    return make


def states(probe, machine, config=None):
    """Return the findings of a probe, as [(state, all that is said)]."""
    return [(finding.state, f"{finding.reason} {finding.mend}") for finding in probe(machine, config or engine())]


CASES = [  # a probe, what differs from a healthy machine, the state, what is said
    (probes.level, {}, {}, {}, "fine", "the best of this processor"),
    (probes.level, {"proc/cpuinfo": CPU.format(0, 0, V4)}, {}, {}, "slow", "`make build`"),
    (probes.level, {"proc/cpuinfo": CPU.format(0, 0, V4)}, {"DRAGON_CPU_LEVEL": "v3"}, {}, "slow",
     "unset DRAGON_CPU_LEVEL"),
    (probes.level, {"proc/cpuinfo": None}, {}, {}, "fine", "does not say"),
    (probes.level, {"proc/cpuinfo": ARM}, {}, {"level": "generic"}, "fine", "the only one for processors of this kind"),
    (probes.threads, {}, {}, {}, "fine", "4 threads (8 processors on 4 cores)"),
    (probes.threads, {}, {}, {"threads": 16}, "slow", "16 threads for 8 processors"),
    (probes.threads, {}, {"OMP_NUM_THREADS": "1"}, {"threads": 1}, "slow", "unset OMP_NUM_THREADS"),
    (probes.threads, {"sys/fs/cgroup/cpu.max": "200000 100000"}, {}, {}, "slow", "4 threads for 2 processors"),
    (probes.threads, {"sys/fs/cgroup/cpu.max": "max 100000"}, {}, {}, "fine", "4 threads"),
    (probes.threads, {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"},
     {}, {"threads": 2}, "fine", "time for 1.5 granted"),
    (probes.openmp, {}, {}, {}, "fine", "no setting"),
    (probes.openmp, {}, {"OMP_WAIT_POLICY": "PASSIVE"}, {}, "slow", "unset OMP_WAIT_POLICY"),
    (probes.openmp, {}, {"OMP_PROC_BIND": "close"}, {}, "slow", "OMP_PROC_BIND=close"),
    (probes.load, {"proc/loadavg": "30.0 1 1 1/1 1"}, {}, {}, "slow", "30.0 programs want 8"),
    (probes.load, {"proc/loadavg": "junk"}, {}, {}, None, ""),
    (probes.governor, {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave"}, {}, {}, "slow",
     "-g performance"),
    (probes.governor, {"sys/devices/system/cpu/intel_pstate/no_turbo": "1"}, {}, {}, "slow", "turbo is off"),
    (probes.huge_pages, {"sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]"}, {}, {}, "slow",
     "write madvise"),
    (probes.memory, {"sys/fs/cgroup/memory.max": str(2 * GIB)}, {}, {}, "fine", "the container grants 2.0 GiB"),
    (probes.memory, {"proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 100000 kB\n"}, {}, {}, "slow", "about to"),
    (probes.memory, {"proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 1000000 kB\nSwapTotal: 4000000 kB\n"
                                     "SwapFree: 0 kB\n"}, {}, {}, "slow", "swapped out"),
    (probes.settings, {}, {"DRAGON_ALLOCATOR": "guard"}, {}, "slow", "unset DRAGON_ALLOCATOR"),
    (probes.settings, {}, {"DRAGON_GRAPH_LEVEL": "0"}, {}, "slow", "as they were written down"),
    (probes.settings, {}, {"DRAGON_ALLOCATOR": "caching", "DRAGON_GRAPH_LEVEL": "3"}, {}, "fine", "nothing"),
    (probes.disk, {"sys/block/sda/queue/rotational": "1"}, {}, {}, "slow", "a rotating disk, 32.0 GiB free"),
    (probes.cuda, {}, {}, {}, "fine", "no NVIDIA device"),
    (probes.cuda, {}, {}, {"devices": 2}, "fine", "2 devices"),
    (probes.cuda, {"proc/driver/nvidia/version": "NVRM version: 570\n"}, {}, {}, "missing", "--gpus all"),
    (probes.cuda, {"proc/driver/nvidia/version": "NVRM version: 570\n", "dev/nvidia0": ""}, {}, {}, "missing",
     "a build of Dragon without CUDA"),
    (probes.caches, {}, {"TORCH_HOME": "/proc/none"}, {}, "missing", "set TORCH_HOME"),
]


@pytest.mark.parametrize("probe, files, environment, settings, state, said", CASES)
def test_probes(machine, monkeypatch, probe, files, environment, settings, state, said):
    made = machine(files, environment)
    if probe is probes.disk:
        made.folder = "/data"
    if probe is probes.caches:
        monkeypatch.setattr("os.access", lambda path, mode: not path.startswith("/proc"))
    found = states(probe, made, engine(**settings))
    assert (found[0][0] if found else None) == state and all(said in words for _, words in found[:1])


def test_hidden_devices(machine, monkeypatch):
    monkeypatch.setattr(probes, "has_cuda_library", lambda config: True)
    for environment, said in (({"CUDA_VISIBLE_DEVICES": ""}, "hides all"), ({}, "does not offer")):
        made = machine({"proc/driver/nvidia/version": "NVRM\n", "dev/nvidia0": ""}, environment)
        (state, words), = states(probes.cuda, made)
        assert state == "missing" and said in words


def test_shared_memory(machine):
    assert states(probes.shared_memory, machine(disk=lambda path: (64 << 20, 0, 64 << 20)))[0][0] == "slow"

    def absent(path):
        raise FileNotFoundError(path)
    assert states(probes.shared_memory, machine(disk=absent))[0][0] == "missing"


def test_far_disk(machine):
    made = machine({"proc/mounts": "/dev/sda1 / ext4 rw 0 0\nserver:/x /data nfs4 rw 0 0\n"})
    made.folder = "/data/set"
    assert states(probes.disk, made)[0] == ("slow", "this folder lies on nfs4, far away: small files are slow to read "
                                            "copy data to a local disk, or pack it into records (dragon.io)")


def test_shadowed_modules(machine):
    made = machine()
    assert states(probes.shadows, made)[0][0] == "fine"
    (made.folder / "torch.py").write_text("")
    (state, said), = states(probes.shadows, made)
    assert state == "slow" and "torch.py would be imported in the place" in said


def test_packages(machine, monkeypatch):
    made = machine()
    monkeypatch.setattr(made, "spec", lambda name: None)
    found = list(probes.packages(made, None))
    assert len(found) == len(probes.PACKAGES) and all(entry.optional and entry.state == "missing" for entry in found)
    assert "dragon-engine[onnx]" in found[0].mend
    assert next(probes.genuine(made, None)).optional


def test_a_machine_that_says_nothing(tmp_path):
    def silent(path):
        raise OSError("no such thing")
    made = Machine(tmp_path / "nothing", {}, {0}, tmp_path, silent)
    for config in (engine(), None):
        found = doctor.look(made, config)
        assert found and not [entry for entry in found if "could not be looked at" in entry.reason]
    assert stopwatch.clock_of(made) is None


def test_a_probe_that_fails_stops_no_other(machine, monkeypatch):
    def broken(machine, config):
        raise ZeroDivisionError("oh")
    monkeypatch.setattr(probes, "PROBES", (broken, probes.openmp))
    assert [entry.name for entry in doctor.look(machine(), engine())] == ["broken", "OpenMP"]


def test_lines_and_colours():
    found = [probes.Finding("a", "fine", "well"), probes.Finding("b", "slow", "ill", "rest"),
             probes.Finding("c", "missing", "gone", "fetch", True)]
    assert doctor.as_lines(found) == [
        "fine     a  well", "slow     b  ill", "            mend: rest", "missing  c  gone", "            mend: fetch",
        "1 of 3 are slow or missing; 1 that can be done without"]
    assert "\x1b[33m" in "".join(doctor.as_lines(found, True)) and doctor.count(found) == 1
    assert doctor.as_lines(found[:1])[-1] == "nothing is slow and nothing needed is missing"
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    assert doctor.is_colourful(terminal, {}) and not doctor.is_colourful(terminal, {"NO_COLOR": "1"})
    assert not doctor.is_colourful(terminal, {"TERM": "dumb"}) and not doctor.is_colourful(io.StringIO(), {})


def test_speed_is_measured_and_judged(machine, monkeypatch):
    found = stopwatch.measure(machine())
    assert [entry.name for entry in found] == ["arithmetic", "memory speed"] and "GFLOP/s" in found[0].reason
    monkeypatch.setattr(stopwatch, "product_speed", lambda: 1e9)
    monkeypatch.setattr(stopwatch, "copy_speed", lambda: 1e9)
    assert [entry.state for entry in stopwatch.measure(machine())] == ["slow", "slow"]


def test_command(execute, tmp_path):
    (tmp_path / "keras.py").write_text("")
    told = json.loads(execute("doctor", "--quick", "--json", status=1).stdout)
    names = [entry["name"] for entry in told["findings"]]
    assert told["ailing"] >= 1 and "instruction set" in names and "arithmetic" not in names
    said = execute("doctor", "--quick", status=1, env={"DRAGON_ALLOCATOR": "naive"}).stdout
    assert "DRAGON_ALLOCATOR=naive" in said and "\x1b" not in said and "keras.py" in said


def test_command_without_an_engine(execute, tmp_path):
    said = execute("doctor", "--quick", status=1, env={"DRAGON_CPU_LEVEL": "v9"}).stdout
    assert "missing  engine" in said and "fine" in said
