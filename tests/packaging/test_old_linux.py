"""Programs linked for older machines than this one: they ask for no symbol that those lack, and run on both."""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
COMPILER = shutil.which("g++")
BOUND = "2.28"
# Uses what glibc, libstdc++ and libgcc got after 2018, and constructors, threads and data of the system's.
PROGRAM = """
#include <sys/stat.h>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>
struct Made { Made() : value(42) {} int value; };
static Made made;
int main(int count, char** words) {
  std::mutex mutex;
  std::condition_variable woken;
  std::once_flag once;
  std::exception_ptr caught;
  int done = 0;
  std::thread other([&] {
    std::unique_lock<std::mutex> lock(mutex);
    woken.wait(lock, [&] { return done > 0; });
    std::call_once(once, [&] { ++done; });
    try { throw std::runtime_error("thrown"); } catch (...) { caught = std::current_exception(); }
  });
  { std::lock_guard<std::mutex> lock(mutex); ++done; }
  woken.notify_all();
  other.join();
  try { std::rethrow_exception(caught); } catch (const std::exception& error) { std::cout << error.what() << ' '; }
  std::ostringstream text;
  text << made.value << ' ' << done << ' ' << std::pow(2.0, count) << ' ' << std::hypot(3.0 * count, 4.0 * count);
  char digits[64];
  const auto end = std::to_chars(digits, digits + 64, 0.5 * count);
  struct stat found = {};
  std::cout << text.str() << ' ' << std::string(digits, end.ptr) << ' ' << stat(words[0], &found) << ' '
            << (std::filesystem::file_size(words[0]) == static_cast<size_t>(found.st_size)) << ' '
            << static_cast<float>(static_cast<_Float16>(count * 1.5f)) << ' ' << *std::make_shared<int>(3) << std::endl;
}
"""
SAID = "thrown 42 2 2 5 0.5 0 1 1.5 3\n"
ARCHIVES = "-Wl,--exclude-libs,libstdc++.a:libgcc.a:libc_nonshared.a:libold_linux.a"


def load(folder, name):
    """Import a file of tools/."""
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def stubs():
    """The tool that writes libraries to link with."""
    for package in ("auditwheel", "elftools"):
        pytest.importorskip(package, reason="what `make wheel` installs is not beside the tests")
    return load(TOOLS / "old_linux", "stubs")


@pytest.fixture(scope="module")
def folder(stubs, tmp_path_factory):
    """Libraries to link with, for the machines that wheels are for."""
    if not COMPILER:
        pytest.skip("no g++ on this machine")
    place = tmp_path_factory.mktemp("stubs")
    stubs.main(["--glibc", BOUND, "--compiler", COMPILER, "--to", str(place)])
    return place


def link(folder, source, *words):
    """Compile a source and link it for older machines; return the compiler's end and the path of what it made."""
    path = folder / "source.cc"
    path.write_text(source, encoding="utf-8")
    command = [COMPILER, "-std=c++20", "-O2", "-fPIC", path, "-o", folder / "made", f"-L{folder}", ARCHIVES, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300), folder / "made"


def asked_versions(path):
    """Return the versions of symbols that a file asks for."""
    text = subprocess.run(["readelf", "-W", "-V", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"Name: (\S+)  Flags", text.partition("Version needs")[2]))


def test_of_each_symbol_the_newest_allowed_version_is_taken(stubs):
    def of(name, version):
        return stubs.Symbol(name, version, "FUNC", 1, 0)

    symbols = [of("pow", "GLIBC_2.29"), of("pow", "GLIBC_2.2.5"), of("memcpy", "GLIBC_2.14"),
               of("memcpy", "GLIBC_2.2.5"), of("memcpy", "GLIBC_2.4"), of("arc4random", "GLIBC_2.36")]
    allowed = {"GLIBC_2.2.5", "GLIBC_2.4", "GLIBC_2.14"}
    found = {symbol.name: (symbol.version, newer) for symbol, newer in stubs.choose(symbols, allowed)}
    assert found == {"pow": ("GLIBC_2.2.5", True), "memcpy": ("GLIBC_2.14", False)}


def test_bounds_are_those_of_the_policy(stubs):
    allowed = stubs.read_bounds(BOUND)
    assert {"GLIBC_2.28", "GLIBC_2.2.5", "CXXABI_1.3.11", "GCC_7.0.0"} <= allowed
    assert not {"GLIBC_2.29", "GLIBCXX_3.4.26", "CXXABI_1.3.12"} & allowed
    with pytest.raises(SystemExit, match=r"got 2\.99, expected the glibc of .*manylinux_2_28"):
        stubs.read_bounds("2.99")


def test_a_program_asks_for_nothing_newer_and_runs(stubs, folder):
    done, made = link(folder, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert asked_versions(made) and asked_versions(made) <= stubs.read_bounds(BOUND)
    assert subprocess.run([made], capture_output=True, text=True, timeout=60).stdout == SAID


def test_libraries_that_moved_into_another_are_asked_where_they_were(folder):
    source = ("#include <dlfcn.h>\n#include <pthread.h>\n#include <sys/mman.h>\nint main() {\n"
              "  return !dlopen(nullptr, 1) + pthread_detach(pthread_self()) + shm_unlink(\"/none\");\n}")
    done, made = link(folder, source)
    assert done.returncode == 0, done.stderr
    needed = subprocess.run(["readelf", "-d", made], capture_output=True, text=True, check=True).stdout
    assert all(f"[{name}]" in needed for name in ("libdl.so.2", "libpthread.so.0", "librt.so.1"))


@pytest.mark.parametrize("name", ["arc4random", "_ZGVbN4v_tanhf"])
def test_what_came_later_and_is_nowhere_else_does_not_link(folder, name):
    done, _ = link(folder, f'extern "C" void {name}();\nint main() {{ {name}(); }}', "-lm")
    assert done.returncode and f"undefined reference to `{name}'" in done.stderr


def test_libgomp_asks_for_nothing_newer_and_runs(stubs, folder, tmp_path):
    assert asked_versions(folder / "libgomp.so") <= stubs.read_bounds(BOUND)
    (tmp_path / "libgomp.so.1").symlink_to(folder / "libgomp.so")
    source = ("#include <cstdio>\nint main() {\n  int sum = 0;\n#pragma omp parallel for reduction(+ : sum)\n"
              "  for (int i = 0; i < 1000; ++i) sum += i;\n  std::printf(\"%d\", sum);\n}")
    done, made = link(folder, source, "-fopenmp", folder / "libgomp.so", f"-Wl,-rpath,{tmp_path}")
    assert done.returncode == 0, done.stderr
    assert subprocess.run([made], capture_output=True, text=True, timeout=60).stdout == "499500"


def test_nobody_leans_on_what_hangs_on_older_machines():
    """Before glibc 2.34, std::call_once waits for ever where a call before it has thrown."""
    sources = [path for kind in ("h", "cc") for path in (TOOLS.parent / "core").rglob(f"*.{kind}")]
    assert len(sources) > 100
    assert not [path for path in sources if "std::once_flag" in path.read_text(encoding="utf-8")]


@pytest.fixture
def wheel(tmp_path):
    """A function that packs a library, compiled here from a source, as a wheel that has no tag yet."""
    if not COMPILER:
        pytest.skip("no g++ on this machine")
    pytest.importorskip("auditwheel", reason="what `make wheel` installs is not beside the tests")

    def pack(source, *words):
        path = tmp_path / "part.cc"
        path.write_text(source, encoding="utf-8")
        subprocess.run([COMPILER, "-shared", "-fPIC", path, "-o", tmp_path / "part.so", *words], check=True)
        tag = f"cp3{sys.version_info.minor}-cp3{sys.version_info.minor}-linux_x86_64"
        made, about = tmp_path / f"thing-1.0-{tag}.whl", "thing-1.0.dist-info"
        files = {f"{about}/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n",
                 f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: false\nTag: {tag}\n"}
        with zipfile.ZipFile(made, "w") as archive:
            archive.write(tmp_path / "part.so", "thing/part.so")
            for name, text in files.items():
                archive.writestr(name, text)
            names = [*archive.namelist(), f"{about}/RECORD"]
            archive.writestr(names[-1], "".join(f"{name},,\n" for name in names))
        return made
    return pack


def test_a_wheel_that_asks_for_more_than_its_tag_allows_is_refused(stubs, wheel, tmp_path):
    made = wheel('extern "C" unsigned arc4random(); unsigned Draw() { return arc4random(); }', "-Wl,-z,undefs")
    repairer = load(TOOLS, "repair_wheel")
    if "GLIBC_2.36" not in asked_versions(tmp_path / "part.so"):
        pytest.skip("this machine's glibc is too old to ask for something new")
    with pytest.raises(SystemExit, match=r"no wheel for manylinux_2_28_x86_64 .*(\n.*)*too-recent"):
        repairer.repair(made, tmp_path / "dist", BOUND)


def test_a_wheel_that_does_not_gets_the_tag_of_the_bound(stubs, wheel, folder, tmp_path):
    made = wheel('#include <cmath>\ndouble Raise(double x) { return std::pow(x, 2.5); }', f"-L{folder}", ARCHIVES)
    target = load(TOOLS, "repair_wheel").repair(made, tmp_path / "dist", BOUND)
    assert target.is_file() and target.name.endswith("-manylinux_2_28_x86_64.whl")


def test_a_symbol_that_was_found_nowhere_is_told(wheel, tmp_path):
    wheel('extern "C" void nowhere(); void Call() { nowhere(); }')
    with pytest.raises(SystemExit, match=r"part\.so asks for nowhere, which no library"):
        load(TOOLS, "check_wheel").check_symbols([tmp_path / "part.so"])
