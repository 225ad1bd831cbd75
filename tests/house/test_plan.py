"""The plan of the house, on one page, names every room there is, and no other."""
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAN = (ROOT / "docs/design/0000-the-house.md").read_text(encoding="utf-8")
HALVES = ("core", "dragon", "dragon/vm", "dragon/core")
# Built, not written.
BUILT = {"lib", "__pycache__"}


@pytest.mark.parametrize("half", HALVES)
def test_every_room_is_on_the_plan(half):
    rooms = {path.name for path in (ROOT / half).iterdir() if path.is_dir()} - BUILT
    assert rooms and not [room for room in sorted(rooms) if not re.search(rf"\b{room}\b", PLAN)]


def test_what_the_plan_names_is_there():
    for name in re.findall(r"`([\w/]+(?:/|\.(?:py|cc))|\w+(?:/\w+)+)`", PLAN):
        places = [ROOT / start / name for start in ("", "dragon", "core", "tests/house", "dragon/vm/torch")]
        assert any(place.exists() for place in places), name
    pages = {path.name[:4] for path in (ROOT / "docs/design").glob("*.md")}
    for row in re.findall(r"\| (\d[\d, ]*) \|$", PLAN, re.MULTILINE):
        assert {page.zfill(4) for page in row.split(", ")} <= pages


def test_the_plan_is_one_page():
    assert len(PLAN.splitlines()) < 70
