"""Every tutorial runs from top to bottom in a process of its own, draws what it shows, and what its words say holds."""
import re

import pytest

from harness import page_process, pages
from harness.subresults import each

TUTORIALS = [path for path in pages.list_pages(pages.TUTORIALS) if not path.endswith("/index.md")]
BEGINNING = "import dragon.vm\ndragon.vm.install()\n"
# Those that do not end within some ten seconds.
LONG = {"classifier", "gpt", "fast"}
TRAINS = [pytest.mark.slow, pytest.mark.long("the tutorial trains networks, or measures how fast they are")]


def name_of(path):
    """Return a tutorial's name."""
    return path.rpartition("/")[2].removesuffix(".md")


@pytest.mark.parametrize("path", [pytest.param(path, marks=TRAINS if name_of(path) in LONG else [], id=name_of(path))
                                  for path in TUTORIALS])
def test_tutorial_runs(path, tmp_path):
    wrong, found = page_process.run_page(path, pages.read_page(path), tmp_path, cells=True)
    assert not wrong, "\n".join(wrong)
    assert found["figures"], f"{path}: expected a plot"


@each("path", TUTORIALS, ids=name_of)
def test_tutorial_has_the_form_of_one(path):
    text, blocks = (pages.ROOT / path).read_text(encoding="utf-8"), pages.read_page(path)
    assert text.startswith("---\njupytext:\n") and "\nkernelspec:\n" in text and text.count("\n# ") >= 1
    code = [block for block in blocks if block.kind == "python"]
    assert code[0].text.startswith(BEGINNING), "a tutorial says first on what it runs"
    assert any(block.kind == "check" for block in blocks), "what a tutorial promises is checked"
    assert "\n## Where next\n" in text


@each("path", TUTORIALS, ids=name_of)
def test_links_of_a_tutorial_lead_somewhere(path):
    for target in re.findall(r"\]\(((?!https?:)[^)#]+)\)", (pages.ROOT / path).read_text(encoding="utf-8")):
        assert ((pages.ROOT / path).parent / target).exists(), target
