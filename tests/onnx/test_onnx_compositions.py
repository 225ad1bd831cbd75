"""Every composed operator, captured and exported: the parts it is made of are expressible and give the same."""
import pytest

pytest.importorskip("onnxruntime")

from harness import engine, exported, rows  # noqa: E402
from harness.checks import samples_of  # noqa: E402
from harness.inputs import bind  # noqa: E402
from harness.subresults import each  # noqa: E402
from harness.tolerance import compare  # noqa: E402

from dragon import onnx  # noqa: E402
from dragon.onnx.capture import leaves  # noqa: E402

ROWS = [row for row in rows.load_rows() if row.call is None and engine.schema(row.name)["composite"]
        and "float32" in row.dtypes]
# What cannot be exported, or not in all samples, by a word of why.
REASONS = {
    "no ONNX expression": """fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn
        fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
        fractional_max_pool3d_with_indices histogram inverse istft linalg_cond linalg_cond_name linalg_lstsq
        linalg_matrix_norm linalg_matrix_norm_name linalg_norm linalg_norm_name linalg_solve linalg_solve_ex
        lu_unpack pinverse stft triangular_solve cholesky_inverse cholesky_solve clip_grad_norm""",
    "depends on numbers": "argwhere combinations flatnonzero index index_put nonzero_tuple repeat_interleave",
    "looks at a tensor's numbers": "rrelu histogram linalg_lstsq",
}


def export_sample(row, arguments):
    """Return (results of eager, results of ONNX Runtime) for one call."""
    args, kwargs = arguments.map(engine.tensor)
    results = leaves(engine.operator(row)(*args, **kwargs))
    args, kwargs = arguments.map(engine.tensor)
    tensors = leaves((args, kwargs))
    model = onnx.export(lambda *args, **kwargs: engine.operator(row)(*args, **kwargs), tuple(args), kwargs=kwargs,
                        input_names=[f"x{index}" for index in range(len(tensors))])
    return results, exported.run(model, tensors)


@each("row", [pytest.param(row, id=str(row)) for row in ROWS])
def test_equals_eager(row):
    failures = []
    for index, sample in enumerate(samples_of(row)):
        try:
            results, got = export_sample(row, bind(row, sample, "float32", index))
        except onnx.ExportError as error:
            said = any(row.name in names.split() and reason in str(error) for reason, names in REASONS.items())
            if not said:
                failures.append(f"{row.name}{sample}: {error}")
            continue
        for place, (mine, theirs) in enumerate(zip(results, got, strict=True)):
            if row.random or row.outputs is not None and place not in row.outputs:
                continue
            found = compare(theirs, engine.array(mine), (1e-4, 1e-5))
            if found:
                failures.append(f"{row.name}{sample}, result {place}: {found}")
    assert not failures, "\n".join(failures)
