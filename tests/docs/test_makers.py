"""What makes the site's pages: escaping, signatures, judgements of coverage, charts, and the check of links."""
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from harness.tools import ROOT, load


@pytest.mark.parametrize("line, expected", [
    ("Add x_ to |y| for 2 * n.", r"Add x\_ to \|y\| for 2 \* n."),
    ("The structure of `TypeSpec`s.", r"The structure of ``TypeSpec``\ s."),
    ("It is *not* **done**.", "It is *not* **done**."),
    (":param x: a * b", r":param x: a \* b"),
    ("See :func:`torch.add_`.", "See :func:`torch.add_`."),
])
def test_prose_is_no_markup(line, expected):
    from makers.describe import escape_line
    assert escape_line(line) == expected


def test_signatures_are_those_of_the_guest():
    from dragon.vm import torch
    from makers.describe import show_signature
    assert show_signature(torch.nn.ReLU) == "(inplace=False)"
    assert show_signature(torch.add) == "(input, other, *, alpha=1, out=None)"
    assert show_signature(torch.Tensor.add, bound=True).startswith("(other, *, alpha=1")
    assert show_signature(3) == ""


def test_a_page_of_a_module_has_its_names_under_the_guest_s_own():
    from makers.api_pages import write_page
    from makers.doors import list_door
    modules = list_door("torch")
    text = write_page("torch.nn", modules["torch.nn"], {})
    assert ".. py:module:: torch.nn\n" in text
    assert ".. py:class:: Conv2d(in_channels, out_channels, kernel_size, stride=1" in text
    assert len(modules) > 40 and "relu" in modules["torch.nn.functional"]


@pytest.mark.parametrize("path, expected, state, word", [
    ("torch.nn.Conv2d", ["in_channels", "bias"], "there", ""),
    ("torch.nn.Conv2d", ["in_channels", "colour"], "partly", "colour"),
    ("torch.package.PackageExporter", [], "partly", "using it raises"),
    ("torch.export.export", [], "there", ""),
    ("torch.newaxis", [], "there", ""),
    ("torch.choose_qparams_optimized", [], "missing", "instead"),
    ("torch.fft.fffft", [], "missing", "torch.fft.fft"),
])
def test_coverage_is_judged(path, expected, state, word):
    from makers.coverage_pages import judge
    found, note = judge(path, expected, {"torch.fft": ["fft", "rfft"]})
    assert found == state and word in note


def test_what_pytorch_took_away_is_refused_by_both():
    import torch as genuine
    from dragon.vm import torch
    from makers.doors import refusing_names
    assert len(refusing_names("torch")) > 5 and not refusing_names("keras")
    for path, (kind, *words) in refusing_names("torch").items():
        for face in (genuine, torch):
            found = eval(path, {"torch": face})
            args = [eval(word, {"torch": face}) for word in words]
            args = [face.zeros(2, 2), *args] if ".Tensor." in path else args
            with pytest.raises((RuntimeError, NotImplementedError)) as raised:
                found(*args)
            assert type(raised.value).__name__ == kind, path


def test_every_plot_is_a_picture_with_a_description():
    from makers.plots import FOLDER, PLOTS
    drawn = 0
    for page, draws in PLOTS.items():
        if (FOLDER / f"{page}.md").exists():
            for draw in draws:
                for svg in ElementTree.fromstring(f"<all>{draw()}</all>").iter("svg"):
                    assert len(svg.get("aria-label")) > 40 and len(list(svg)) > 3
                    drawn += 1
    assert drawn > 14


def test_bars_are_as_long_as_their_numbers():
    from makers.charts import draw_bars
    picture = ElementTree.fromstring(draw_bars("T", [("a", [1.0]), ("b", [2.0])], ["s"]))
    short, long = (float(bar.get("width")) for bar in picture.iter("rect"))
    assert long == pytest.approx(2 * short, rel=1e-3)


def test_what_both_sides_printed_is_told_apart(tmp_path, monkeypatch):
    from makers import landing
    page = tmp_path / "first_minutes.md"
    page.write_text("# T\n\n```text\n$ python train.py    $ dragon run train.py\nloss 1.00            loss 1.00\n\n"
                    "9.0 s, 500 MiB       1.0 s, 50 MiB\n```\n", encoding="utf-8")
    monkeypatch.setattr(landing, "PAGE", page)
    (first, genuine), (second, ours) = landing.read_sides()
    assert (first, second) == ("$ python train.py", "$ dragon run train.py")
    assert genuine[-1] == "9.0 s, 500 MiB" and ours[0] == "loss 1.00"
    assert '<span class="cost">1.0 s, 50 MiB</span>' in landing.write_terminal(second, ours, "dragon")


@pytest.mark.parametrize("mine, theirs, same", [
    ("loss 1.00", "loss 1.01", True), ("loss 1.00", "loss 1.10", False), ("loss 1.00", "cost 1.00", False),
    ("loss 1.00", "loss 1.00 1.00", False)])
def test_outputs_are_alike_in_words_and_numbers(mine, theirs, same):
    program = f"import first_minutes; assert first_minutes.alike({mine!r}, {theirs!r}) is {same}"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT / "benchmarks", check=True)


def test_links_that_lead_nowhere_are_found(tmp_path):
    links = load("tools/check_links.py")
    (tmp_path / "b.html").write_text('<h1 id="here">B</h1>', encoding="utf-8")
    (tmp_path / "a.html").write_text(
        '<h1>A</h1><a href="b.html#here">ok</a><a href="b.html#there">no</a><a href="c.html">no</a>'
        '<a href="https://example.org/x">out</a><script src="https://example.org/x.js"></script>', encoding="utf-8")
    site = links.read_site(tmp_path)
    assert list(links.check_links(tmp_path, site)) == ["a.html: b.html#there leads to no place of b.html",
                                                       "a.html: c.html leads to no page"]
    assert list(links.check_fetched(tmp_path, site)) == ["a.html: fetches https://example.org/x.js from elsewhere"]
    assert not list(links.check_pages(tmp_path, site))


def test_a_mean_is_taken_of_one_column_only():
    from makers import history
    table = "| case | dragon / PyTorch | other |\n|---|---|---|\n| a | 0.5 | 9 |\n| b | 2.0 | 9 |\n"
    assert history.mean_ratio(table, "dragon / PyTorch") == pytest.approx(1.0)
    assert history.mean_ratio(table, "ratio") is None
