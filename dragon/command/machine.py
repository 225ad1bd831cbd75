"""The machine as `dragon doctor` asks it: files, variables and a few calls, any of which may be absent or faked."""
import os
import pathlib
import shutil
import sys


class Machine:
    """Where the doctor looks.

    Parameters
    ----------
    root : str, optional, default="/"
        The folder that stands for the root of the file system.
    environment : Dict[str, str], optional
        Environment variables; the process's own by default.
    affinity : Set[int], optional
        The processors that the process may run on; asked of the system by default.
    folder : str, optional
        The working folder.
    disk : Callable[[str], tuple], optional
        What tells (total, used, free) bytes of a folder's file system.

    """

    def __init__(self, root="/", environment=None, affinity=None, folder=None, disk=shutil.disk_usage):
        self.root = pathlib.Path(root)
        self.environment = os.environ if environment is None else environment
        self.folder = pathlib.Path(folder or os.getcwd())
        self.disk = disk
        self._affinity = affinity

    def read(self, path):
        """Return the text of a file of the system, or an empty string where it cannot be read."""
        try:
            return (self.root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def exists(self, path):
        """Return whether a file of the system is there."""
        try:
            return (self.root / path.lstrip("/")).exists()
        except OSError:
            return False

    def number(self, path):
        """Return the number that a file of the system holds, or None."""
        words = self.read(path).split()
        return int(words[0]) if words and words[0].isdecimal() else None

    def variable(self, name):
        """Return an environment variable, or an empty string."""
        return self.environment.get(name, "").strip()

    # --- the processor

    def processors(self):
        """Return how many processors the process may run on."""
        if self._affinity is not None:
            return len(self._affinity)
        try:
            return len(os.sched_getaffinity(0))
        except (AttributeError, OSError):
            return os.cpu_count() or 1

    def present(self):
        """Return how many processors the machine has."""
        count = sum(line.startswith("processor") for line in self.read("/proc/cpuinfo").splitlines())
        return count or os.cpu_count() or 1

    def cores(self):
        """Return how many cores there are, without their second threads; None where the system does not say."""
        found, place = set(), []
        for line in self.read("/proc/cpuinfo").splitlines() + [""]:
            name, _, value = line.partition(":")
            if name.strip() in ("physical id", "core id"):
                place.append(value.strip())
            elif not name.strip() and place:
                found.add(tuple(place))
                place = []
        return len(found) or None

    def quota(self):
        """Return how many processors' time the container grants, as a float; None without a limit."""
        words = self.read("/sys/fs/cgroup/cpu.max").split()
        if len(words) < 2:  # the older hierarchy
            words = [self.read(f"/sys/fs/cgroup/cpu/cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        try:
            quota, period = map(float, words[:2])
        except ValueError:
            return None
        return quota / period if quota > 0 and period > 0 else None

    def flags(self):
        """Return what the processor can do, as the system calls it."""
        for line in self.read("/proc/cpuinfo").splitlines():
            if line.startswith(("flags", "Features")):
                return frozenset(line.partition(":")[2].split())
        return frozenset()

    # --- memory

    def memory(self):
        """Return {name: bytes} of /proc/meminfo."""
        found = {}
        for line in self.read("/proc/meminfo").splitlines():
            words = line.replace(":", " ").split()
            if len(words) >= 2 and words[1].isdecimal():
                found[words[0]] = int(words[1]) * 1024
        return found

    def memory_limit(self):
        """Return how much memory the container grants, or None without a limit."""
        for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            limit = self.number(path)
            if limit is not None and limit < 1 << 60:  # the older hierarchy writes a huge number for none
                return limit
        return None

    def free_space(self, path):
        """Return (total, free) bytes of the file system of a folder, or None."""
        try:
            usage = self.disk(str(self.root / path.lstrip("/")))
            return usage[0], usage[2]
        except OSError:
            return None

    def shadows(self, names):
        """Return the files of the working folder that would be imported in the place of packages."""
        found = []
        for name in names:
            if name == "dragon" and (self.folder / "dragon" / "command" / "doctor.py").exists():
                continue  # a checkout
            found += [str(path) for path in (self.folder / f"{name}.py", self.folder / name)
                      if path.is_file() or (path / "__init__.py").is_file()]
        return found

    @staticmethod
    def spec(name):
        """Return where a package would be imported from, or None; it is not imported."""
        import importlib.machinery
        places = [path for path in sys.path if path not in ("", os.getcwd())]
        return importlib.machinery.PathFinder.find_spec(name, places)
