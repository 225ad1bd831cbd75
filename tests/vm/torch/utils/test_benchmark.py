"""Cases for benchmarks, drawn as genuine PyTorch draws them, and counts of functions."""
import pytest
import torch
import torch.utils.benchmark

from dragon.vm import torch as dt

FACES = (dt, torch)


def fuzzers(t, **words):
    """Return some fuzzers of a face."""
    b = t.utils.benchmark
    axes = [b.FuzzedParameter("dim", distribution={1: 0.3, 2: 0.4, 3: 0.3}, strict=True),
            [b.FuzzedParameter(f"k{axis}", 1, 40, "loguniform") for axis in range(3)],
            b.FuzzedParameter("other", distribution={1: 0.4, b.ParameterAlias("k0"): 0.6}),
            b.FuzzedParameter("step", 1, 3, "uniform"), b.FuzzedParameter("share", 0.5, 2.0, "uniform")]
    dense = [b.FuzzedTensor("x", ("k0", "k1", "k2"), steps=("step", 1, "step"), probability_contiguous=0.3,
                            min_elements=4, max_elements=4000, max_allocation_bytes=40000, dim_parameter="dim"),
             b.FuzzedTensor("y", ("other", 2), dtype=t.int64)]
    sparse = [b.FuzzedParameter("k", 3, 9, "uniform"), b.FuzzedParameter("density", 0.2, 0.5, "uniform"),
              b.FuzzedParameter("coalesced", distribution={True: 0.5, False: 0.5}),
              b.FuzzedParameter("sparse_dim", distribution={1: 0.5, 2: 0.5})]
    return [b.Fuzzer(axes, dense, [lambda params: params["share"] < 1.8], **words),
            b.Fuzzer(sparse, [b.FuzzedSparseTensor("s", ("k", "k"), sparse_dim="sparse_dim")], **words)]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seed", [0, 7])
def test_cases_are_genuine_ones(which, seed, monkeypatch):
    # PyTorch 2.13 refuses just those probabilities that sum to one.
    monkeypatch.setattr(torch.utils.benchmark.FuzzedParameter, "_check_distribution", lambda self, given: given)
    ours, theirs = (fuzzers(t, seed=seed)[which] for t in FACES)
    for mine, other in zip(ours.take(12), theirs.take(12)):
        values = [{name: getattr(value, "alias_to", value) for name, value in case[2].items()}
                  for case in (mine, other)]
        assert values[0] == values[1]
        for name, tensor in other[0].items():
            assert mine[0][name].shape == tuple(tensor.shape) and str(mine[0][name].dtype) == str(tensor.dtype)
            mine_dense, other_dense = mine[0][name].to_dense(), tensor.to_dense()
            assert mine_dense.flatten().tolist() == pytest.approx(other_dense.flatten().tolist())
            strides = [[step for step, size in zip(each.stride(), tensor.shape) if size > 1]
                       for each in (mine_dense, other_dense)]
            assert strides[0] == strides[1]
            told = {key: list(value) if key == "order" else value for key, value in other[1][name].items()}
            assert mine[1][name] == told
    assert ours.rejection_rate == theirs.rejection_rate


def test_what_cannot_be_drawn():
    b = dt.utils.benchmark
    with pytest.raises(AssertionError, match="got 'normal'"):
        b.FuzzedParameter("x", 1, 2, "normal")
    with pytest.raises(AssertionError, match="negative"):
        b.FuzzedParameter("x", distribution={1: -1, 2: 2})
    with pytest.raises(AssertionError, match="must be None"):
        b.FuzzedParameter("x", 1, distribution={1: 1})
    with pytest.raises(ValueError, match="Duplicate names.*x"):
        b.Fuzzer([b.FuzzedParameter("x", 1, 2, "uniform")], [b.FuzzedTensor("x", (1,))])
    circle = [b.FuzzedParameter(name, distribution={b.ParameterAlias(other): 1.0}) for name, other in ("ab", "ba")]
    with pytest.raises(ValueError, match="cycle.*alias_to: b"):
        next(b.Fuzzer(circle, []).take(1))
    with pytest.raises(ValueError, match="none in 1000 tries"):
        next(b.Fuzzer([b.FuzzedParameter("x", 1, 2, "uniform")], [b.FuzzedTensor("y", ("x",), min_elements=9)]).take(1))


def test_counts_of_functions():
    texts = []
    for t in FACES:
        b = t.utils.benchmark
        counts = b.FunctionCounts(tuple(b.FunctionCount(100 - index, f"file{index % 3}.c:f{index}" + "x" * (9 * index))
                                        for index in range(25)), False, _linewidth=70)
        noise = b.FunctionCounts((b.FunctionCount(-5, "dictobject.c:lookdict_unicode"), b.FunctionCount(3, "a")), False)
        merged = (counts + noise) * 2 - noise
        assert len(counts[:3]) == 3 and isinstance(counts[:3], b.FunctionCounts)
        found = [counts.sum(), merged.sum(), noise.denoise().sum(), list(counts.transform(lambda name: name[:5])),
                 len(counts.filter(lambda name: name.startswith("file1"))), list(noise - noise), list(merged)[:2]]
        with pytest.raises(AssertionError, match="inclusive and exclusive"):
            counts + b.FunctionCounts((), True)
        texts.append((found, repr(counts).splitlines()[1:], repr(noise).splitlines()[1:]))
    assert texts[0] == texts[1]
    assert dt.utils.benchmark.FunctionCounts((dt.utils.benchmark.FunctionCount(1, "f"),), True)[0].function == "f"
