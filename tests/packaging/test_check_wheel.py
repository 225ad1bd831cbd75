"""What `make wheel` proves of a wheel, proved on wheels that lack it."""
import pytest

from harness.tools import ROOT, load

checker, collector = load("tools/check_wheel.py"), load("tools/third_party.py")
GOOD = "dragon_engine-0.1.0-cp311-cp311-manylinux_2_35_x86_64.whl"
METADATA = "Metadata-Version: 2.4\nName: dragon-engine\nVersion: 0.1.0\nLicense-Expression: Apache-2.0\n"


@pytest.fixture
def contents(tmp_path):
    """The folder of an unpacked wheel that has what is asked for, without libraries."""
    metadata = tmp_path / "dragon_engine-0.1.0.dist-info"
    (metadata / "licenses").mkdir(parents=True)
    (metadata / "METADATA").write_text(METADATA)
    for name, words in checker.LICENCES.items():
        (metadata / "licenses" / name).write_text(words)
    for name in checker.HEADERS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("name", [GOOD, GOOD.replace("2_35", "2_28"), GOOD.replace("x86_64", "aarch64"),
                                  GOOD.replace("manylinux_2_35", "manylinux_2_27_x86_64.manylinux_2_28")])
def test_tags_that_pypi_takes_pass(name):
    checker.check_name(name)


@pytest.mark.parametrize("name, word", [(GOOD.replace("manylinux_2_35", "linux"), "manylinux_2_"),
                                        (GOOD.replace("2_35", "2_99"), "2_99"),
                                        (GOOD.replace("dragon_engine", "dragon"), "called dragon-0.1.0")])
def test_others_do_not(name, word):
    with pytest.raises(SystemExit, match=word):
        checker.check_name(name)


def test_a_whole_wheel_tells_its_release(contents):
    assert checker.check_contents(contents) == "0.1.0"


@pytest.mark.parametrize("name", sorted(checker.LICENCES))
def test_a_licence_that_is_missing_is_named(contents, name):
    (contents / checker.ONEDNN).touch()
    next(contents.rglob(name)).unlink()
    with pytest.raises(SystemExit, match=f"licenses/{name}"):
        checker.check_contents(contents)


@pytest.mark.parametrize("name", sorted(checker.LICENCES))
def test_a_wheel_without_onednn_is_without_its_licences_alone(contents, name):
    next(contents.rglob(name)).unlink()
    if name.startswith("oneDNN"):
        assert checker.check_contents(contents) == "0.1.0"
    else:
        with pytest.raises(SystemExit, match=f"licenses/{name}"):
            checker.check_contents(contents)


@pytest.mark.parametrize("name", ["libdragon_cpu_v3.so", "libdragon_cpu_generic.so", "libdragon_cpu.so",
                                  "_C.cpython-311-aarch64-linux-gnu.so"])
def test_libraries_of_all_processors_are_ours(name):
    assert checker.OURS.fullmatch(name)


def test_a_header_that_is_missing_is_named(contents):
    (contents / checker.HEADERS[0]).unlink()
    with pytest.raises(SystemExit, match="tensor.h"):
        checker.check_contents(contents)


def test_a_library_that_nobody_named_is_refused(contents):
    (contents / "dragon" / "libstranger.so.1").touch()
    with pytest.raises(SystemExit, match=r"libstranger\.so\.1.*THIRD_PARTY\.md"):
        checker.check_libraries(contents)


def test_every_library_of_others_is_in_the_notice():
    notice = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    assert all(f"dragon/lib/{name}`" in notice for name in checker.OTHERS)
    assert all(f"`{name}`" in notice for name in collector.PACKAGES)


def test_licences_come_from_the_packages_of_the_build(tmp_path):
    packages = {distribution for distribution, ends in collector.PACKAGES.values()}
    if not all(collector.find_licence(name, ("",)) for name in packages):
        pytest.skip("the packages that a build needs are not installed beside the tests")
    collector.collect(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(collector.PACKAGES)


def test_licences_of_what_is_not_carried_are_left_out(tmp_path):
    without = {distribution for distribution, ends in collector.PACKAGES.values()}
    collector.collect(tmp_path, sorted(without))
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit, match="got onednn, expected packages"):
        collector.collect(tmp_path, ["onednn"])


def test_a_licence_that_is_nowhere_ends_the_build(tmp_path, monkeypatch):
    monkeypatch.setattr(collector, "PACKAGES", {"nobody.txt": ("no-such-package", ("LICENSE",))})
    with pytest.raises(SystemExit, match="nobody.txt: no-such-package has no LICENSE"):
        collector.collect(tmp_path)
