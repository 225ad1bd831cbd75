"""Random tensor programs, run eagerly and from captured plans at every level: nobody may see a difference."""
import functools
import warnings

import pytest

from dragon.vm import torch
from harness import answers, captured
from harness.programs import REJECTED, genuine_program

TOLERANCE = {0: 0, 1: 0, 2: 0, 3: 1e-4}
CALLS = 4
PER_TEST = 25
grow = functools.lru_cache(maxsize=PER_TEST)(genuine_program)


def run_eagerly(program, side):
    """Return what each call shows on a side, its gradients taken outside, and the live results with the arguments."""
    (function, outside), shown, grads, kept = program.function(side), [], [], []
    for call in range(CALLS):
        arguments = program.arguments(side, call)
        side.manual_seed(program.seed + call)
        results = captured.leaves(function(*arguments))
        tensors = arguments + outside
        shown.append(captured.shown(results, tensors, side))
        grads.append(captured.outer_gradients(results, tensors, side))
        kept.append((results, tensors))
    return shown, grads, kept


def run_genuinely(program):
    """Return what each call shows in genuine PyTorch, and its gradients taken outside."""
    import torch as genuine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_eagerly(program, genuine)[:2]


def expect(program):
    """Return what eager calls of a program show, their gradients, and what is there once their results are written."""
    shown, grads, kept = run_eagerly(program, torch)
    return shown, grads, [captured.after_writing(*eager, torch) for eager in kept]


def check(program, level, expected):
    """Return what differs between eager calls and a captured function's, or None; "eager" where no graph was made."""
    wanted, grads, written = expected
    (function, outside), mine = program.function(torch), []
    replay = None
    for call in range(CALLS):
        arguments = program.arguments(torch, call)
        torch.manual_seed(program.seed + call)
        if call == 0:
            results, replay = captured.capture(function, arguments, level)
            if replay is None:
                return "eager"
        else:
            results = replay(*arguments)
        tensors = arguments + outside
        found = captured.difference(captured.shown(results, tensors, torch), wanted[call], TOLERANCE[level])
        if found:
            return f"O{level}, call {call}: {found}"
        if grads[call] is not None:
            got = captured.outer_gradients(results, tensors, torch) or []
            found = captured.difference(got, grads[call], TOLERANCE[level] or 1e-6)
            if found:
                return f"O{level}, gradients of call {call}: {found}"
        mine.append((results, tensors))
    # Earlier results must have stayed as they were while later calls ran; and who shares memory must share it here too.
    for call, (ours, eager) in enumerate(zip(mine, written)):
        found = captured.difference(captured.after_writing(*ours, torch), eager, TOLERANCE[level])
        if found:
            return f"O{level}, after writing into the results of call {call}: {found}"
    return None


def shrink(program, level):
    """Return a program with as few statements as still differ."""
    for number in range(len(program.lines) - 1, -1, -1):
        lines = program.lines[:number] + program.lines[number + 1:]
        before, program.lines = program.lines, lines
        try:
            differs = check(program, level, expect(program)) not in (None, "eager")
        except Exception:
            differs = False
        if not differs:
            program.lines = before
    return program


def walk(seeds, levels):
    """Fail with the programs that differ; return how many were compared, and how many gave no graph."""
    failures, compared, gave_up = [], 0, 0
    for seed in seeds:
        program = grow(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = expect(program)
            except REJECTED:  # what Dragon refuses and PyTorch allows is told by other tests
                continue
            for level in levels:
                try:
                    found = check(program, level, expected)
                except Exception as error:
                    found = f"O{level}: {type(error).__name__}: {error}"
                if found == "eager":
                    gave_up += 1
                    break
                if found:
                    failures.append(f"{found}\n{shrink(program, level)}")
                    break
        compared += 1
    if failures:
        pytest.fail(f"{len(failures)} of {compared} programs differ:\n" + "\n".join(failures[:3]), pytrace=False)
    return compared, gave_up


@pytest.mark.parametrize("first", range(0, 150, PER_TEST))
def test_programs_mean_the_same_as_in_pytorch(first):
    """The generator is sound: what it makes is deterministic, and Dragon agrees with PyTorch about nearly all of it."""
    refused = 0
    for seed in range(first, first + PER_TEST):
        program = grow(seed)
        wanted, slopes = answers.ask("torch", [str(program), CALLS, run_eagerly], lambda: run_genuinely(program))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                got, mine, _ = run_eagerly(program, torch)
            except REJECTED:
                refused += 1
                continue
        # What a side saves for its gradients is its own affair, and so what may not be written meanwhile.
        both = [pair for pair in zip(mine, slopes) if None not in pair]
        for one, other in [*zip(got, wanted), *both]:
            found = captured.difference(one, other, 1e-3)
            assert not found, f"{found}\n{program}"
    assert refused <= 4


@pytest.mark.skipif(not captured.AVAILABLE, reason="this engine does not trace")
@pytest.mark.parametrize("first", range(0, 200, PER_TEST))
def test_programs_run_as_eagerly(first):
    compared, gave_up = walk(range(first, first + PER_TEST), captured.LEVELS)
    assert compared >= PER_TEST - 4 and gave_up < PER_TEST / 2


def check_function(program, level, rows):
    """Return (what differs between eager calls and `dragon.function`'s, or None; how many graphs it made)."""
    function, outside = program.function(torch)
    plain, held = program.function(torch)
    compiled = None
    for call, size in enumerate((None, None, rows, None, rows + 1, 2)):
        shown = []
        for run, tensors in ((plain, held), (compiled, outside)):
            arguments = program.arguments(torch, call, size)
            torch.manual_seed(program.seed + call)
            if run is plain:
                try:
                    results = captured.leaves(run(*arguments))
                except REJECTED:  # not for this number of rows; what was written until then is written
                    try:
                        compiled(*arguments)
                    except REJECTED:
                        return None, len(compiled.function.graphs)
                    return f"O{level}, call {call} of dragon.function: runs with {size} rows, which is an error", 0
            elif compiled is None:
                results, compiled = captured.capture_function(function, arguments, level)
            else:
                results = run(*arguments)
            shown.append(captured.shown(results, arguments + tensors, torch))
        found = captured.difference(shown[1], shown[0], TOLERANCE[level] or 1e-6)
        if found:
            return f"O{level}, call {call} of dragon.function: {found}", 0
    return None, len(compiled.function.graphs)


@pytest.mark.skipif(not captured.AVAILABLE, reason="this engine does not trace")
@pytest.mark.parametrize("first", range(0, 150, PER_TEST))
def test_functions_run_as_eagerly_with_any_number_of_rows(first):
    failures, graphs = [], 0
    for seed in range(first, first + PER_TEST):
        program = grow(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                run_eagerly(program, torch)
            except REJECTED:
                continue
            found, made = check_function(program, (0, 3)[seed % 2], 3 + seed % 4)
        graphs += bool(made)
        if found:
            failures.append(f"{found}\n{program}")
    assert not failures, f"{len(failures)} programs differ:\n" + "\n".join(failures[:3])
    # No graphs are: programs that look at numbers, and those whose gradients eager calls refuse since they write what
    # these need.
    assert graphs > 0.7 * PER_TEST


@pytest.mark.slow
@pytest.mark.skipif(not captured.AVAILABLE, reason="this engine does not trace")
@pytest.mark.parametrize("first", range(1000, 3400, 4 * PER_TEST))
def test_many_programs_run_as_eagerly(first):
    compared, gave_up = walk(range(first, first + 4 * PER_TEST), captured.LEVELS)
    assert compared >= 3.5 * PER_TEST and gave_up < 2 * PER_TEST
