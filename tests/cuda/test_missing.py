"""Which kernels the CPU has and the device has not is written down, so that one that comes leaves the list."""
import pathlib
import re

import dragon

# Family by family: what a device still lacks.
MISSING = {
    "arrange": "accumulate assemble assemble_backward cat move reverse_line",
    "attention": "scaled_dot_product_attention scaled_dot_product_attention_backward",
    "convolution": "conv conv_backward_data conv_backward_weights",
    "index": ("count_marked embedding_backward embedding_bag embedding_bag_backward gather index index_put "
        "masked_fill masked_scatter masked_select nonzero scatter"),
    "linalg": ("geqrf linalg_cholesky linalg_det linalg_eig linalg_eigh linalg_householder_product linalg_inv "
        "linalg_ldl_factor linalg_ldl_solve linalg_lstsq linalg_lu_factor linalg_lu_solve linalg_qr "
        "linalg_slogdet linalg_solve linalg_solve_triangular linalg_svd lu_unpack matrix_exp ormqr"),
    "loss": ("cdist cdist_backward cross_entropy cross_entropy_backward ctc_loss ctc_loss_backward nll_loss "
        "nll_loss_backward target_weights"),
    "matmul": "dot",
    "normalization": ("batch_norm_backward channel_affine channel_moments group_norm group_norm_backward layer_norm "
        "layer_norm_backward log_softmax log_softmax_backward softmax softmax_backward"),
    "pooling": "average_pool average_pool_backward fractional_max_pool max_pool place_in_planes",
    "random": ("bernoulli bernoulli_of binomial cauchy exponential geometric log_normal multinomial native_dropout "
        "native_dropout_backward normal poisson random_all random_integers randperm standard_gamma "
        "stateless_binomial stateless_categorical stateless_gamma stateless_integers stateless_normal "
        "stateless_truncated_normal stateless_uniform uniform"),
    "recurrent": "recurrent recurrent_backward",
    "reduction": "cummax cummin cumprod cumsum linear_scan logcumsumexp",
    "sort": "bincount histc histogram index_range isin kthvalue median mode searchsorted sort topk unique",
    "sparse": "rows_dots rows_extreme rows_matmul rows_product starts_of_product turn_rows",
    "training": ("adadelta_step adagrad_step adam_step adamax_step asgd_step foreach_norm foreach_scale lamb_step "
        "nadam_step radam_step rmsprop_step rprop_step sgd_step"),
}
# What no device is to have: pictures are decoded, and messages of several processes put together, by the host; and what
# the host's own libraries have beside its kernels.
OF_THE_HOST = frozenset("""
    combine conv_layout linear_layout pack_weight picture_blend picture_columns picture_write
""".split())


def families():
    """Return the family of each kernel, by the header that declares it."""
    kernels = pathlib.Path(__file__).parents[2] / "core" / "kernels"
    found = {}
    for header in sorted(kernels.rglob("*.h")):
        family = header.stem if header.parent == kernels else header.parent.name
        for name in re.findall(r'\{\s*"(\w+)"\}', header.read_text()):
            found.setdefault(name, family)
    return found


def missing():
    """Return, by family, the kernels that the CPU has and the device has for no dtype."""
    here, there, family = dragon._C.kernels("cpu"), dragon._C.kernels("cuda"), families()
    found = {}
    for name in sorted(set(here) - set(there) - OF_THE_HOST):
        if name.endswith("_onednn") or name.startswith("convert_to_"):
            continue
        found.setdefault(family.get(name, "other"), []).append(name)
    return {name: " ".join(kernels) for name, kernels in sorted(found.items())}


def test_missing_kernels_are_known():
    """The kernels without a form for the device are those of the list, no more and no fewer."""
    x = dragon.ops.to_device(dragon.ops.zeros((1,)), "cuda")
    dragon.ops.add(x, x)  # now its library is loaded
    found = missing()
    print("".join(f'\n    "{name}": "{kernels}",' for name, kernels in found.items()))
    assert found == MISSING


def test_dtypes_are_those_of_the_cpu():
    """A kernel that the device has takes the dtypes that the CPU's takes."""
    here, there = dragon._C.kernels("cpu"), dragon._C.kernels("cuda")
    lacking = {name: sorted(set(here[name]) - set(there[name])) for name in set(here) & set(there)}
    assert {name: dtypes for name, dtypes in lacking.items() if dtypes} == {}, "write down why in the family's source"
