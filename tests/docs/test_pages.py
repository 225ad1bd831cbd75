"""Every block of the pages runs as it stands, from top to bottom, and prints what the page says."""
import importlib
import re

import pytest

from harness import page_process, pages
from harness.subresults import each

# More blocks that do not run need a better reason than room in this number.
MOST_MARKED = 18  # eight of them want other machines, MPI, Slurm, Ray, GPUs or nvcc


@pytest.mark.parametrize("path", pages.list_pages())
@pytest.mark.long("a page's programs train, export and start processes, as its readers would")
def test_page_runs(path, tmp_path):
    wrong, _ = page_process.run_page(path, pages.read_page(path), tmp_path)
    assert not wrong, "\n".join(wrong)


def list_marked():
    """Return (place, reason) of all blocks that are not run."""
    return [(f"{path}:{block.line}", block.reason) for path in pages.list_pages() + pages.list_pages(pages.TUTORIALS)
            for block in pages.read_page(path) if block.reason is not None]


def test_what_is_not_run_says_why():
    assert not [place for place, reason in list_marked() if len(reason.split()) < 2]


def test_few_blocks_are_not_run():
    marked = list_marked()
    assert len(marked) <= MOST_MARKED, marked


@each("path", pages.list_pages() + pages.list_pages(pages.TUTORIALS))
def test_code_stands_between_fences(path):
    assert not pages.find_indented((pages.ROOT / path).read_text(encoding="utf-8"))


@each("path", pages.list_pages() + pages.list_pages(pages.TUTORIALS))
def test_what_is_shown_stands_in_its_file(path):
    for block in pages.read_page(path):
        if block.kind == "excerpt":
            assert block.text in (pages.ROOT / block.name).read_text(encoding="utf-8"), f"{path}:{block.line}"


def test_the_guide_to_operators_shows_every_kind_of_file():
    names = [block.name.split("/") for block in pages.read_page("docs/guide/adding_an_operator.md")
             if block.kind == "excerpt"]
    assert {name[1] if name[0] == "core" else name[0] for name in names} == {"kernels", "ops", "tests", "dragon"}


PLACE = re.compile(r"`((?:core|dragon|tests|benchmarks|examples|tools)/[\w./*-]+)`")
BUILT = ("dragon/lib", "dragon/_C")


@each("path", pages.list_pages() + pages.list_pages(pages.TUTORIALS))
def test_files_that_a_page_names_exist(path):
    named = set(PLACE.findall((pages.ROOT / path).read_text(encoding="utf-8")))
    gone = [name for name in sorted(named) if not name.startswith(BUILT) and not is_there(name)]
    assert not gone


def is_there(name):
    """Return whether a file of the repository, or of a guest's room, has this name."""
    return any(any(pages.ROOT.glob(place + name.rstrip("/."))) for place in ("", "dragon/vm/*/"))


NAME = re.compile(r"`((?:dragon|torch|torchvision|keras|tf)(?:\.\w+)+)(?:\([^`]*\))?`")
# What pages name as missing. Once it is there, the page is wrong, and this test says so.
MISSING = {"torch.nn.Conv2D"}
FILES = {"dragon.proto"}


def find(name):
    """Return whether a dotted name leads somewhere on Dragon."""
    first, *rest = name.split(".")
    value = importlib.import_module({"dragon": "dragon", "tf": "dragon.vm.tensorflow"}.get(first, f"dragon.vm.{first}"))
    for word in rest:
        try:
            value = getattr(value, word)
        except AttributeError:
            try:
                value = importlib.import_module(f"{getattr(value, '__name__', first)}.{word}")
            except ImportError:
                return False
    return True


@each("path", pages.list_pages() + pages.list_pages(pages.TUTORIALS))
def test_names_that_a_page_tells_are_there(path):
    told = set(NAME.findall((pages.ROOT / path).read_text(encoding="utf-8"))) - FILES
    assert not [name for name in sorted(told) if find(name) is (name in MISSING)]
