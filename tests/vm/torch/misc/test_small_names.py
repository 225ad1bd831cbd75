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


def test_named_results_of_calls_with_out():
    wanted = {name for name in dir(gt.return_types) if name.endswith("_out") and not name.startswith("_")}
    assert wanted <= set(dir(dt.return_types))
    assert dt.return_types.max_out((1, 2)).indices == 2


def test_guards_that_are_kept():
    class Entry:
        guard_type, is_global, value = "TENSOR_MATCH", True, None

    entries = [Entry()]
    assert dt.compiler.keep_tensor_guards_unsafe(entries) == [True]
    assert dt.compiler.skip_all_guards_unsafe(entries) == dt.compiler.skip_guard_on_globals_unsafe(entries) == [False]
    assert dt.compiler.keep_portable_guards_unsafe(entries) == [False]
    dt.compiler.set_default_backend("cudagraphs")
    assert dt.compiler.get_default_backend() == "cudagraphs"
    dt.compiler.set_default_backend(None)
    assert dt.compiler.get_default_backend() == "inductor" and dt.compiler.save_cache_artifacts() is None
    with pytest.raises(NotImplementedError, match="set_default_backend"):
        dt.compiler.set_default_backend(lambda graph, inputs: graph)


def test_tables_of_measurements():
    def measured(face, sub, description, times, threads=1):
        spec = face.utils.benchmark.TaskSpec("f()", "pass", label="add", sub_label=sub, description=description,
                                             num_threads=threads)
        return face.utils.benchmark.Measurement(1, times, spec)

    import torch.utils.benchmark  # noqa: F401
    texts = []
    for face in (dt, gt):
        compare = face.utils.benchmark.Compare([
            measured(face, "small", "one", [1e-5, 1.2e-5, 1.1e-5]), measured(face, "small", "two", [2e-5]),
            measured(face, "large", "one", [1e-3]), measured(face, "large", "two", [2.5e-3], 4)])
        texts.append(str(compare).split())
    assert [word.strip("[]-") for word in texts[0]] == [word.strip("[]-") for word in texts[1]]
    units = dt.utils.benchmark
    assert units.select_unit(3e-5) == ("us", 1e-6) and units.unit_to_english("ms") == "millisecond"
    assert units.trim_sigfig(3.14159, 2) == pytest.approx(3.1) and units.ordered_unique([2, 1, 2]) == [2, 1]


def test_names_of_processes(monkeypatch):
    distributed = dt.distributed
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "detail")
    distributed.set_debug_level_from_env()
    assert distributed.get_debug_level() is distributed.DebugLevel.DETAIL
    distributed.set_debug_level(distributed.DebugLevel.OFF)
    with pytest.raises(TypeError, match="DebugLevel"):
        distributed.set_debug_level(1)
    with pytest.warns(FutureWarning, match="reduce_op"):
        assert distributed.reduce_op.SUM == distributed.ReduceOp.SUM
    with distributed.record_comm("exchange"):
        assert issubclass(distributed.QueueEmptyError, distributed.DistError)


def test_functions_that_choose_by_a_flag():
    chosen = dt.nn.functional.boolean_dispatch("flag", 1, False, lambda x, flag=True: "yes", lambda x, flag=False: "no",
                                               None, "choose")
    assert [chosen(1), chosen(1, True), chosen(1, flag=True)] == ["no", "yes", "yes"] and chosen.__name__ == "choose"
    with pytest.raises(AssertionError, match="size"):
        dt.nn.functional.assert_int_or_pair([1, 2, 3], "size", "{} is wrong")
    assert dt.overrides.redispatch_function(dt.add, (), (dt.ones(1), 1), None).tolist() == [2]


def test_paths_of_files(tmp_path):
    from torch import _utils_internal as theirs

    from dragon.vm.torch import _utils_internal as ours
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for utils, torch in ((ours, dt), (theirs, gt)):
        assert utils.get_file_path_2("a", "b", "c.png") == "a/b/c.png"
        assert utils.get_file_path("torch", "__init__.py") == torch.__file__
        assert utils.get_writable_path(str(tmp_path)) == str(tmp_path)
        assert utils.resolve_library_path(str(link)) == str(tmp_path)
        assert utils.get_writable_path(str(tmp_path / "nothing")).endswith("nothing")


def test_two_words_for_the_precision_of_products():
    before = dt.get_float32_matmul_precision()
    try:
        dt.backends.cuda.matmul.allow_tf32 = True
        assert dt.get_float32_matmul_precision() == "high"
        dt.backends.cuda.matmul.allow_tf32 = False
        assert dt.get_float32_matmul_precision() == "highest"
        dt.set_float32_matmul_precision("medium")
        assert dt.backends.cuda.matmul.allow_tf32
    finally:
        dt.set_float32_matmul_precision(before)


@pytest.mark.parametrize("dtype", ["uint8", "float64", "bool", "complex64"])
def test_a_tensor_of_a_tensor_keeps_its_dtype(dtype):
    for torch in (dt, gt):
        given = torch.ones(2, dtype=getattr(torch, dtype))
        made = torch.Tensor(given)
        assert made.dtype == given.dtype and made.data_ptr() == given.data_ptr() and made is not given
        with pytest.raises(TypeError):
            torch.LongTensor(given)
