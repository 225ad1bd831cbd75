"""Figures have one home: what the README and its charts show is what the tables say and what the code has."""
import re

import pytest

from harness.tools import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def find_makers(monkeypatch):
    """Let the folder of pages be found, as `conf.py` does."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_show_what_the_table_says(theme):
    from makers import landing
    drawn = (landing.DOCS / "_static" / landing.CHART.format(theme)).read_text(encoding="utf-8")
    assert drawn == landing.draw_alone(theme)


def test_the_charts_words_tell_their_range():
    from makers.plots import read_training
    times, memory = ([round(values[part] * 100) for _, values in read_training()] for part in (0, 1))
    assert f"{min(times)} to {max(times)} % of the time, {min(memory)} to {max(memory)} % of the memory" in README


def test_about_half_the_time_is_about_half():
    from makers.plots import mean, read_training
    assert "in about half the time" in README and 0.45 < mean([values[0] for _, values in read_training()]) < 0.55


def test_the_program_printed_what_its_page_says():
    page = (ROOT / "docs/benchmarks/first_minutes.md").read_text(encoding="utf-8")
    beside = re.search(r"^```text\n.*?^```", page, re.DOTALL | re.MULTILINE).group()
    assert beside in README


def test_programs_are_as_many_as_there_are():
    told = re.findall(r"(\d+) of \[(examples/\w+)\]", README)
    assert told == [(str(len(list((ROOT / folder).glob("*.py")))), folder)
                    for folder in ("examples/torch", "examples/tensorflow")]


def test_names_are_as_many_as_the_coverage_pages_count():
    from makers.coverage_pages import judge_all
    for guest, pattern in (("torch", r"(\d+) % of PyTorch's ([\d,]+) public names"),
                           ("keras", r"(\d+) % of Keras's ([\d,]+) names"),
                           ("tensorflow", r"(\d+) % of TensorFlow's ([\d,]+) names")):
        percent, count = re.search(pattern, README).groups()
        states = [state for _, state, _ in judge_all(guest)]
        assert (len(states), round(100 * states.count("there") / len(states))) == (int(count.replace(",", "")),
                                                                                   int(percent))
