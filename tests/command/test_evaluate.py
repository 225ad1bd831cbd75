"""`dragon evaluate`: both sides in turns, what the host lacks, and rules whose breach is told."""
import copy
import json
import os
import sys

import pytest

from dragon.command import answer
from dragon.command.evaluation import rules, running

NET = """
import torch
from torch import nn


def make(name):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), torch.randn(32, 8), torch.randint(0, 4, (32,))
"""


def make_report():
    """Return a report that keeps all rules."""
    figures = {"runs": [3.0, 1.0, 2.0, 5.0, 4.0], "median": 3.0, "parameters": 10, "data": "ab" * 32}
    sides = {"dragon": copy.deepcopy(figures), "torch": copy.deepcopy(figures)}
    return {"sides": ["dragon", "torch"], "hardware": {"processor": "one", "processors": 2, "memory": 1 << 30},
            "versions": {"python": "3.11", "system": "Linux", "dragon": "0.1", "torch": "2.13"},
            "recipe": {"command": ["dragon", "evaluate"], "program": "cd" * 32, "steps": 5, "seed": 0},
            "flags": {side: {"environment": {"OMP_NUM_THREADS": "1"}, "build": ["a flag"]} for side in sides},
            "nets": [{"name": "n", "parameters": 10, "data": "ab" * 32, "worlds": [
                {"machines": 1, "local": 1, "sides": sides}, {"machines": 2, "local": 8, "not run": "one machine"}]}]}


def test_a_whole_report_is_well():
    assert rules.judge(make_report()) == {}


@pytest.mark.parametrize("rule, path, value", [
    ("hardware", ("hardware", "memory"), None),
    ("hardware", ("hardware",), None),
    ("versions", ("versions", "torch"), ""),
    ("same net", ("nets", 0, "worlds", 0, "sides", "torch", "parameters"), 11),
    ("same net", ("nets", 0, "parameters"), None),
    ("same data", ("nets", 0, "worlds", 0, "sides", "dragon", "data"), "ef" * 32),
    ("same data", ("nets", 0, "data"), "none"),
    ("recipe", ("recipe", "command"), []),
    ("recipe", ("recipe", "seed"), None),
    ("median of runs", ("nets", 0, "worlds", 0, "sides", "torch", "runs"), [1.0] * 4),
    ("median of runs", ("nets", 0, "worlds", 0, "sides", "torch", "runs"), [1.0] * 8),
    ("median of runs", ("nets", 0, "worlds", 0, "sides", "torch", "median"), 5.0),
    ("median of runs", ("nets", 0, "worlds", 0, "sides", "torch", "runs"), [3.0, float("nan"), 3.0, 3.0, 3.0]),
    ("median of runs", ("nets", 0, "worlds"), []),
    ("flags of both sides", ("flags", "torch"), {}),
    ("flags of both sides", ("sides",), ["dragon"]),
])
def test_what_is_absent_is_told(rule, path, value):
    report = make_report()
    place = report
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert rule in rules.judge(report)


def test_an_empty_report_keeps_no_rule():
    assert set(rules.judge({})) == set(rules.RULES)


def test_a_report_is_judged_again(execute, tmp_path):
    (tmp_path / "good.json").write_text(json.dumps(make_report()), encoding="utf-8")
    assert "same data: kept" in execute("evaluate", "--check", "good.json").stdout
    broken = make_report()
    del broken["hardware"]
    (tmp_path / "bad.json").write_text(json.dumps(broken), encoding="utf-8")
    assert "hardware: it is not told" in execute("evaluate", "--check", "bad.json", status=1).stdout
    (tmp_path / "none.json").write_text("[", encoding="utf-8")
    assert "expected a report that" in execute("evaluate", "--check", "none.json", status=2).stderr
    assert "No such file" in execute("evaluate", "--check", "nowhere.json", status=2).stderr


def test_one_side_alone(execute, tmp_path):
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    said = execute("evaluate", "--nets", "net.py:small", "--worlds", "1x1,4x8", "--runs", "5", "--steps", "2",
                   "--output", "report.json", status=1).stdout
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [rule for rule, told in report["rules"].items() if told != "kept"] == ["flags of both sides"]
    alone, four = report["nets"][0]["worlds"]
    assert four["not run"] == "it takes 4 machines, and this is one" and "4 x 8  not run" in said
    assert alone["sides"]["dragon"]["speed-up"] == 1.0 and report["nets"][0]["parameters"] == 8 * 16 + 16 + 16 * 4 + 4


@pytest.fixture
def one_run_of_each(monkeypatch):
    """Have each side run once, and others repeat what it told: all start processes that import a framework."""
    real, first, sides = running.run_once, {}, []

    def once(command, *rest):
        sides.append("dragon" if "dragon" in command else "torch")
        if sides[-1] not in first:
            first[sides[-1]] = real(command, *rest)
        return first[sides[-1]]
    monkeypatch.setattr(running, "run_once", once)
    return sides


@pytest.mark.long("PyTorch and Dragon start in processes of their own, which import them")
@pytest.mark.parametrize("count", [1, 2])
def test_both_sides(one_run_of_each, tmp_path, capsys, count):
    pytest.importorskip("torch")
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    status = answer(["evaluate", "--nets", f"{tmp_path / 'net.py'}:small", "--worlds", f"1x{count}", "--runs", "5",
                     "--steps", "2", "--crowded", "--genuine", sys.executable, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert status == 0 and set(report["rules"].values()) == {"kept"}
    assert one_run_of_each == ["dragon", "torch", "torch", "dragon"] * 2 + ["dragon", "torch"]
    world, = report["nets"][0]["worlds"]
    sides = world["sides"]
    assert sides["dragon"]["losses"] == pytest.approx(sides["torch"]["losses"], rel=1e-4) and world["ratio"] > 0
    assert all(len(figures["runs"]) == 5 for figures in sides.values()) and world["local"] == count
    assert report["versions"]["torch"].startswith(report["versions"]["dragon"].rpartition(" ")[2].partition("+")[0])


@pytest.mark.parametrize("words, letter", [
    (["--nets", "resnet5"], "got the net 'resnet5', expected one of resnet50, gpt"),
    (["--nets", "no.py:x"], "got 'no.py', expected a file that can be used"),
    (["--genuine", "no-such-python"], "expected an interpreter that can be run"),
    (["--worlds", "four"], "got 'four' for --worlds"),
])
def test_mistakes_are_letters(execute, tmp_path, words, letter):
    assert letter in execute("evaluate", *words, status=2, env={"HOME": os.fspath(tmp_path)}).stderr
