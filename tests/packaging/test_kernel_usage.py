"""What tools/kernel_usage.py reads of a library's kernels, keeps, and finds in another one."""
import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

if not (ROOT / "tools" / "kernel_usage.py").exists():
    pytest.skip("needs the checkout's tools", allow_module_level=True)

SAID = """
Fatbin elf code:
================
arch = sm_90

Resource usage:
 Common:
  GLOBAL:0
 Function _ZN6dragon4cuda10EachKernelINS0_50_GLOBAL__N__1779e7f7_11_assemble_cu_cb8b44ff_24367103AddIfEEEEvT_l:
  REG:32 STACK:{stack} SHARED:0 LOCAL:0 CONSTANT[0]:1432 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _ZN6dragon4cuda10EachKernelINS0_3MulIdEEEEvT_l:
  REG:40 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:1432 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _ZN6dragon4cudaL16SumsBeforeKernelIiEEvPT_l:
  REG:64 STACK:0 SHARED:1280 LOCAL:0 CONSTANT[0]:1432 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function _ZN3cub11EmptyKernelIvEEvv:
  REG:4 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:1432 TEXTURE:0 SURFACE:0 SAMPLER:0

Fatbin elf code:
================
arch = sm_80
 Function _ZN6dragon4cuda10EachKernelINS0_3MulIdEEEEvT_l:
  REG:255 STACK:999 SHARED:0 LOCAL:0 CONSTANT[0]:1432 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Return the tool, for which cuobjdump and nvcc are texts: `say(stack, release)` makes them."""
    spec = importlib.util.spec_from_file_location("kernel_usage", ROOT / "tools" / "kernel_usage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def say(stack, release="V13.0.88", text=SAID):
        for name, words in (("cuobjdump", text.format(stack=stack)),
                            ("nvcc", f"Cuda compilation tools, release 13.0, {release}")):
            (tmp_path / name).write_text(f"#!/bin/sh\ncat <<'END'\n{words}\nEND\n")
            (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("CUOBJDUMP", str(tmp_path / "cuobjdump"))
    module.say = say
    say(0)
    return module


def test_rows(tool):
    rows = tool.summarize(tool.read_usage(SAID.format(stack=8))["sm_90"])
    assert rows == [["`cub::EmptyKernel`", "1", "4", "4", "0", "0", "0", "2,048"],
                    ["`EachKernel`", "2", "36", "40", "1", "8", "0", "1,536 to 2,048"],
                    ["`SumsBeforeKernel`", "1", "64", "64", "0", "0", "1280", "1,024"]]
    assert tool.kernel_name("_Z5plainPf") == "plain" and tool.kernel_name("Main") == "Main"


@pytest.mark.parametrize("registers, shared, block, threads",
                         [(32, 0, 256, 2048), (33, 0, 256, 1536), (255, 0, 256, 256), (168, 0, 128, 384),
                          (32, 49152, 256, 1024), (64, 1280, 1024, 1024), (65, 0, 1024, 0)])
def test_occupancy(tool, registers, shared, block, threads):
    """As NVIDIA's own calculator has it for compute capability 9.0."""
    assert tool.threads_at_a_time(registers, shared, block) == threads


def test_a_larger_stack_is_told(tool, tmp_path, capsys):
    page = tmp_path / "page.md"
    assert tool.main(["library.so", "--write", str(page)]) == 0
    assert tool.main(["library.so", "--check", str(page)]) == 0
    assert "4 kernels, none with more stack" in capsys.readouterr().out
    tool.say(40)
    assert tool.main(["library.so", "--check", str(page)]) == 1
    said = capsys.readouterr().err
    assert "`EachKernel`: got a stack of 40 bytes, expected at most 0" in said and "--write" in said
    assert tool.main(["library.so", "--write", str(page)]) == tool.main(["library.so", "--check", str(page)]) == 0


def test_more_instances_with_a_stack_are_told(tool):
    rows = [["`EachKernel`", "9", "32", "40", "3", "8", "0", "2,048"], ["`New`", "1", "9", "9", "1", "8", "0", "2,048"]]
    assert tool.differences(rows, {"EachKernel": (3, 8), "New": (1, 16)}) == []
    assert tool.differences(rows, {"EachKernel": (2, 8)}) == [
        "`EachKernel`: got 3 instances with a stack, expected at most 2",
        "`New`: got a stack of 8 bytes, expected at most 0"]


def test_another_compiler_is_not_compared(tool, tmp_path, capsys):
    page = tmp_path / "page.md"
    tool.main(["library.so", "--write", str(page)])
    tool.say(40, "V13.4.2")
    assert tool.main(["library.so", "--check", str(page)]) == 0
    assert "nothing is compared" in capsys.readouterr().out


def test_what_cannot_be_read_is_told(tool, tmp_path, capsys, monkeypatch):
    assert tool.main(["library.so", "--check", str(tmp_path / "none.md")]) == 2
    (tmp_path / "empty.md").write_text("nothing")
    assert tool.main(["library.so", "--check", str(tmp_path / "empty.md")]) == 2
    tool.say(0, text="arch = sm_80")
    assert tool.main(["library.so"]) == 2
    assert "found no code for sm_90 in library.so" in capsys.readouterr().err
    monkeypatch.setattr(tool, "find_cuobjdump", lambda: (_ for _ in ()).throw(tool.UsageError("found no cuobjdump")))
    assert tool.main(["library.so"]) == 2


@pytest.mark.skipif(not (ROOT / "docs" / "benchmarks" / "cuda-kernels.md").exists(), reason="needs the pages")
def test_the_page_is_one_of_its_own(tool):
    release, kept = tool.read_page((ROOT / "docs" / "benchmarks" / "cuda-kernels.md").read_text(encoding="utf-8"))
    assert release.startswith("V") and len(kept) > 100 and kept["MeetKernel"] == (0, 0)
