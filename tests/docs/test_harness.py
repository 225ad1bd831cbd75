"""What runs the pages notices what is wrong with one."""
import textwrap

import pytest

from harness import page_claims, page_process, pages
from harness.subresults import each


def run(text, folder):
    """Run a page that is a text; return what is wrong and what was printed."""
    wrong, found = page_process.run_page("docs/page.md", pages.parse(textwrap.dedent(text)), folder)
    return "\n".join(wrong), "".join(answer["printed"] for answer in found["answers"])


GOOD = """
    Blocks share names; what stands behind them is compared.

    ```python
    import dragon
    x = dragon.tensor([1.0, 2.0])
    x.shape            # (2,)
    print(x.sum().item() / 7)    # 0.428
    x.dtype            # words are not compared
    for number in [3]:
        number         # 3
    ```
    <!-- check: x.shape == (2,) -->

    ```python
    print(x.tolist())
    print("and", 0.12345)
    ```

    ```text
    [1.0, ...]
    and 0.123
    ```

    ```pycon
    >>> x.tolist()
    [1.0, 2.0]
    ```

    <!-- file: program.py -->
    ```python
    import sys
    print("program", *sys.argv[1:])
    ```

    ```sh
    make demo               # looked up, not run
    pip install .[onnx]
    python program.py one | tr a-z A-Z
    ```

    ```text
    PROGRAM ONE
    ```

    <!-- not run: it would never end -->
    ```python
    while True:
        pass
    ```

    * A list with
      ```python
      indented = x.tolist()
      ```

    ````{note}
    ```python
    print(indented)         # [1.0, 2.0]
    ```
    ````
"""


def test_a_good_page_is_good(tmp_path):
    wrong, printed = run(GOOD, tmp_path)
    assert not wrong and "PROGRAM ONE" in printed and "[1.0, 2.0]" in printed


WRONG = {
    "a name that nobody defines": ("```python\nmodel(1)\n```", "NameError"),
    "another value": ("```python\n1 + 1      # 3\n```", "the page says 3, it is 2"),
    "another value inside of a block": ("```python\nif True:\n    1 + 1      # 3\n```", "the page says 3, it is 2"),
    "another line": ("```python\nprint(0.25)     # 0.27\n```", "the page says 0.27, it prints 0.25"),
    "another output": ("```python\nprint(1)\n```\n\n```text\n2\n```", "the page says\n2"),
    "another session": ("```pycon\n>>> 1 + 1\n3\n```", "Expected:\n    3"),
    "a session without a language": ("```\n>>> 1 + 1\n3\n```", "Expected:\n    3"),
    "an end": ("```python\nimport sys\nsys.exit(0)\n```", "SystemExit"),
    "a dead process": ("```python\nimport os\nos.kill(os.getpid(), 9)\n```", "nothing came back"),
    "a check": ("<!-- check: 1 > 2 -->", "1 > 2 does not hold"),
    "a command": ("```sh\npython -c 'raise SystemExit(3)'\n```", "ended with 3"),
    "a command in the middle": ("```sh\nfalse\ntrue\n```", "ended with 1"),
    "a target": ("```sh\nmake nothing\n```", "no target 'nothing'"),
    "an extra": ("```sh\npip install 'dragon-engine[nothing]'\n```", "no extra 'nothing'"),
    "a stranger's package": ("```sh\npip install dragon\n```", "'dragon' is neither"),
    "a program of the checkout": ("```sh\npython benchmarks/nothing.py\n```", "there is no benchmarks/nothing.py"),
}


@pytest.mark.parametrize("text, said", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_noticed(text, said, tmp_path):
    wrong, _ = run(text, tmp_path)
    assert said in wrong


@pytest.mark.parametrize("text", ["```pithon\n1\n```", "```python\n1\n"], ids=["language", "end"])
def test_what_cannot_be_read_is_refused(text):
    with pytest.raises(pages.PageError):
        pages.parse(text)


def test_a_marker_keeps_its_reason():
    first, second = pages.parse("<!-- not run: needs a GPU -->\n```python\n1\n```\n\n<!-- not run -->\n```sh\nls\n```")
    assert (first.reason, second.reason) == ("needs a GPU", "")


def test_code_without_a_fence_is_found():
    text = "Words:\n\n    python program.py\n\n* a list\n\n    with more words\n\n```text\n\n    inside\n```\n"
    assert pages.find_indented(text) == [3]


def test_options_of_directives_are_no_code():
    cell, file = pages.parse("```{code-cell} python\n:tags: [hide-input]\n\nx = 1\n```\n\n"
                             "```{code-block} python\n:caption: a.py\ny = 2\n```")
    assert (cell.kind, cell.text, cell.line) == ("python", "x = 1\n", 4)
    assert (file.kind, file.name, file.text) == ("file", "a.py", "y = 2\n")


@each("expected, actual, same", [
    ("1.0", "1.04", True), ("1.00", "1.04", False), ("2", "2", True), ("2", "3", False), ("x.y", "xzy", False),
    ("[0.5, ...]", "[0.51, 7]", True), ("a  b\n", "a b", True), ("loss 1e-3", "loss 0.0012", True),
    ("loss 1e-3", "loss 0.2", False)])
def test_numbers_count_as_far_as_they_are_written(expected, actual, same):
    assert page_claims.agrees(expected, actual) is same


@each("comment, claim", [
    (" 3.5", True), (" [1, 2]", True), (" tensor([1.])", True), (" None", True), (" 2 x", False), (" the sum", False),
    (" word", False), (" a, b", False), ("'text'", True)])
def test_values_are_claims_and_words_are_not(comment, claim):
    assert page_claims.is_claim(comment) is claim
