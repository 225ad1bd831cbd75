"""Names that libraries ask for beside the great ones, each as genuine PyTorch has it."""
import inspect
import io

import pytest
import torch as gt

from dragon.vm import torch as dt


@pytest.mark.parametrize("words", [{"keepdims": True}, {"keepdims": False}, {"axis": (0, 1), "keepdims": True}])
def test_norms_take_the_words_of_numpy(words):
    for name in ("matrix_norm", "norm", "vector_norm"):
        ours, theirs = (getattr(torch.linalg, name)(torch.ones(2, 3), **words) for torch in (dt, gt))
        assert ours.shape == tuple(theirs.shape) and ours.flatten().tolist() == pytest.approx(theirs.flatten().tolist())
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        dt.linalg.matrix_norm(dt.ones(2, 3), other=1)


def test_the_gradient_by_its_inner_name():
    x = dt.ones(2, requires_grad=True)
    assert x._grad is None
    x._grad = dt.ones(2)
    assert x.grad is x._grad and x.grad.tolist() == [1, 1]


def test_futures_are_a_name_of_torch():
    future = dt.Future()
    future.set_result(3)
    assert dt.futures.collect_all([future]).wait()[0].value() == 3


def test_what_compiles_as_a_compiled_module_does():
    made = dt.compile(dt.nn.Linear(2, 2))
    assert made.dynamo_ctx(lambda x: x + 1)(dt.ones(1)).tolist() == [2]


def test_files_may_name_the_mark_of_no_value():
    file = io.BytesIO()
    gt.save({"default": inspect.Parameter.empty}, file)
    file.seek(0)
    assert dt.load(file, weights_only=False) == {"default": inspect.Parameter.empty}
    file.seek(0)
    with pytest.raises(Exception, match="inspect._empty"):
        dt.load(file)


def test_repositories_of_a_folder(tmp_path):
    (tmp_path / "hubconf.py").write_text("dependencies = ['torch']\ndef model(size=1):\n    'A model.'\n"
                                         "    return size\n")
    for trust in (None, True, False, "check"):
        words = {"source": "local", "trust_repo": trust}
        assert dt.hub.load(str(tmp_path), "model", size=3, **words) == 3
    assert dt.hub.list(str(tmp_path), trust_repo=True) == ["model"]
    assert dt.hub.help(str(tmp_path), "model", trust_repo=True) == "A model."
    with pytest.raises(RuntimeError, match="Cannot find callable other"):
        dt.hub.load(str(tmp_path), "other", source="local")
