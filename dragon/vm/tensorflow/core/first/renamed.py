"""Functions whose arguments had other names, or another order, in TensorFlow 1.

A line is `name(parameters)`, or `name=home(parameters)` where the function of today has another name. A parameter is
`name`, `name=default`, `old>name` for an old word of another parameter, and `-name` for one that does not change what
is computed. A heading is the module.
"""
import ast
import functools
import inspect

from dragon.vm.shared.tensors.dtypes import OBJECTS

REDUCED = "(input_tensor axis=None keepdims=None name=None reduction_indices>axis keep_dims>keepdims)"
CHECKED = "(x y -data=None summarize=None message=None name=None)"
CHECKED_ONE = "(x -data=None summarize=None message=None name=None)"
POOLED = "(value>input ksize strides padding data_format='NHWC' name=None input=None)"
TABLE = f"""
[]
argmax(input axis=None name=None dimension>axis output_type=int64)
argmin(input axis=None name=None dimension>axis output_type=int64)
assert_equal{CHECKED}
assert_greater{CHECKED}
assert_less{CHECKED}
assert_greater_equal=debugging.assert_greater_equal{CHECKED}
assert_less_equal=debugging.assert_less_equal{CHECKED}
assert_none_equal=debugging.assert_none_equal{CHECKED}
assert_near=debugging.assert_near(x y rtol=None atol=None -data=None summarize=None message=None name=None)
assert_negative=debugging.assert_negative{CHECKED_ONE}
assert_non_negative=debugging.assert_non_negative{CHECKED_ONE}
assert_non_positive=debugging.assert_non_positive{CHECKED_ONE}
assert_positive=debugging.assert_positive{CHECKED_ONE}
assert_rank(x rank -data=None -summarize=None message=None name=None)
assert_rank_at_least=debugging.assert_rank_at_least(x rank -data=None -summarize=None message=None name=None)
assert_rank_in=debugging.assert_rank_in(x ranks -data=None -summarize=None message=None name=None)
assert_scalar=debugging.assert_scalar(tensor name=None message=None)
assert_integer=debugging.assert_integer(x message=None name=None)
assert_type=debugging.assert_type(tensor tf_type message=None name=None)
batch_to_space(input crops block_size>block_shape name=None block_shape=None)
bincount=math.bincount(arr weights=None minlength=None maxlength=None dtype=int32)
boolean_mask(tensor mask name='boolean_mask' axis=None)
cond(pred true_fn=None false_fn=None -strict=False name=None fn1>true_fn fn2>false_fn)
confusion_matrix=math.confusion_matrix(labels predictions num_classes=None dtype=int32 name=None weights=None)
constant(value dtype=None shape=None name='Const' -verify_shape=False)
convert_to_tensor(value dtype=None name=None preferred_dtype>dtype_hint dtype_hint=None)
count_nonzero=math.count_nonzero(input_tensor>input axis=None keepdims=None dtype=int64 name=None \
reduction_indices>axis keep_dims>keepdims input=None)
decode_csv=io.decode_csv(records record_defaults field_delim=',' use_quote_delim=True name=None na_value='' \
select_cols=None)
decode_raw=io.decode_raw(input_bytes out_type=None little_endian=True name=None bytes>input_bytes)
depth_to_space=nn.depth_to_space(input block_size name=None data_format='NHWC')
device(device_name_or_function>device_name device_name=None)
expand_dims(input axis=None name=None dim>axis)
gather(params indices validate_indices=None name=None axis=None batch_dims=0)
gather_nd(params indices name=None batch_dims=0 bad_indices_policy='')
norm(tensor ord='euclidean' axis=None keepdims=None name=None keep_dims>keepdims)
ones_like(tensor>input dtype=None name=None -optimize=True input=None)
zeros_like(tensor>input dtype=None name=None -optimize=True input=None)
pad(tensor paddings mode='CONSTANT' name=None constant_values=0)
parse_example=io.parse_example(serialized features name=None example_names=None)
parse_single_example=io.parse_single_example(serialized features name=None example_names=None)
random_poisson=random.poisson(lam shape dtype=float32 seed=None name=None)
reduce_all{REDUCED}
reduce_any{REDUCED}
reduce_logsumexp{REDUCED}
reduce_max{REDUCED}
reduce_mean{REDUCED}
reduce_min{REDUCED}
reduce_prod{REDUCED}
reduce_sum{REDUCED}
reduce_join=strings.reduce_join(inputs axis=None keep_dims>keepdims separator='' name=None reduction_indices>axis \
keepdims=False)
reverse_sequence(input seq_lengths seq_axis=None batch_axis=None name=None seq_dim>seq_axis batch_dim>batch_axis)
shape(input name=None out_type=int32)
size(input name=None out_type=int32)
space_to_batch(input paddings block_size>block_shape name=None block_shape=None)
space_to_depth=nn.space_to_depth(input block_size name=None data_format='NHWC')
sparse_add=sparse.add(a b threshold=None thresh>threshold)
sparse_concat=sparse.concat(axis sp_inputs name=None expand_nonconcat_dim>expand_nonconcat_dims concat_dim>axis \
expand_nonconcat_dims=False)
sparse_reduce_max=sparse.reduce_max(sp_input axis=None keepdims=None reduction_axes>axis keep_dims>keepdims)
sparse_reduce_sum=sparse.reduce_sum(sp_input axis=None keepdims=None reduction_axes>axis keep_dims>keepdims)
sparse_segment_mean=sparse.segment_mean(data indices segment_ids name=None num_segments=None sparse_gradient=False)
sparse_segment_sqrt_n=sparse.segment_sqrt_n(data indices segment_ids name=None num_segments=None \
sparse_gradient=False)
sparse_segment_sum=sparse.segment_sum(data indices segment_ids name=None num_segments=None sparse_gradient=False)
squeeze(input axis=None name=None squeeze_dims>axis)
string_to_hash_bucket=strings.to_hash_bucket(string_tensor>input num_buckets name=None input=None)
string_to_number=strings.to_number(string_tensor>input out_type=float32 name=None input=None)
substr=strings.substr(input pos len name=None unit='BYTE')
transpose(a perm=None name='transpose' conjugate=False)
tuple(tensors name=None control_inputs=None)
verify_tensor_all_finite=debugging.assert_all_finite(t>x msg>message name=None x=None message=None)
while_loop(cond body loop_vars shape_invariants=None parallel_iterations=10 back_prop=True swap_memory=False \
name=None maximum_iterations=None -return_same_structure=False)
[debugging]
assert_all_finite(t>x msg>message name=None x=None message=None)
[image]
crop_and_resize(image boxes box_ind>box_indices crop_size=None method='bilinear' extrapolation_value=0 name=None \
box_indices=None)
draw_bounding_boxes(images boxes name=None colors=None)
extract_glimpse(input size offsets centered=True normalized=True uniform_noise>noise name=None noise='uniform')
extract_image_patches=image.extract_patches(images ksizes>sizes strides=None rates=None padding=None name=None \
sizes=None)
[io]
parse_example(serialized features name=None example_names=None)
parse_single_example(serialized features name=None example_names=None)
[linalg]
norm(tensor ord='euclidean' axis=None keepdims=None name=None keep_dims>keepdims)
[math]
bincount(arr weights=None minlength=None maxlength=None dtype=int32)
in_top_k(predictions targets k name=None)
log_softmax(logits axis=-1 name=None dim>axis)
softmax(logits axis=-1 name=None dim>axis)
[nn]
avg_pool{POOLED}
avg_pool2d{POOLED}
max_pool{POOLED}
conv1d(value>input filters stride padding -use_cudnn_on_gpu=None data_format='NWC' name=None input=None dilations=None)
conv2d(input filter>filters strides padding -use_cudnn_on_gpu=True data_format='NHWC' dilations=None name=None \
filters=None)
conv3d(input filter>filters strides padding data_format='NDHWC' dilations=None name=None filters=None)
conv2d_transpose(value>input filter>filters output_shape strides padding='SAME' data_format='NHWC' name=None \
input=None filters=None dilations=None)
conv3d_transpose(value>input filter>filters output_shape strides padding='SAME' data_format='NDHWC' name=None \
input=None filters=None dilations=None)
convolution(input filter>filters padding strides=None dilation_rate>dilations name=None data_format=None filters=None \
dilations=None)
crelu(features name=None axis=-1)
depthwise_conv2d(input filter strides padding rate>dilations name=None data_format=None dilations=None)
dilation2d(input filter>filters strides rates>dilations padding name=None filters=None dilations=None \
-data_format='NHWC')
embedding_lookup(params ids -partition_strategy='mod' name=None -validate_indices=True max_norm=None)
embedding_lookup_sparse(params sp_ids sp_weights -partition_strategy='mod' name=None combiner='mean' max_norm=None)
in_top_k(predictions targets k name=None)
log_softmax(logits axis=-1 name=None dim>axis)
max_pool_with_argmax(input ksize strides padding data_format='NHWC' Targmax>output_dtype name=None output_dtype=int64 \
include_batch_in_index=False)
moments(x axes shift=None name=None keep_dims>keepdims keepdims=False)
nce_loss(weights biases labels inputs num_sampled num_classes num_true=1 sampled_values=None \
remove_accidental_hits=False -partition_strategy='mod' name='nce_loss')
pool(input window_shape pooling_type padding dilation_rate>dilations strides=None name=None data_format=None \
dilations=None)
sampled_softmax_loss(weights biases labels inputs num_sampled num_classes num_true=1 sampled_values=None \
remove_accidental_hits=True -partition_strategy='mod' name='sampled_softmax_loss' seed=None)
separable_conv2d(input depthwise_filter pointwise_filter strides padding rate>dilations name=None data_format=None \
dilations=None)
softmax(logits axis=-1 name=None dim>axis)
softmax_cross_entropy_with_logits(labels=None logits=None dim>axis name=None axis=-1)
softmax_cross_entropy_with_logits_v2=nn.softmax_cross_entropy_with_logits(labels logits axis=-1 name=None dim>axis)
sufficient_statistics(x axes shift=None keep_dims>keepdims name=None keepdims=False)
weighted_cross_entropy_with_logits(labels=None logits=None pos_weight=None name=None targets>labels)
weighted_moments(x axes frequency_weights name=None keep_dims>keepdims keepdims=False)
[random]
poisson(lam shape dtype=float32 seed=None name=None)
[sparse]
segment_mean(data indices segment_ids name=None num_segments=None sparse_gradient=False)
segment_sqrt_n(data indices segment_ids name=None num_segments=None sparse_gradient=False)
segment_sum(data indices segment_ids name=None num_segments=None sparse_gradient=False)
[strings]
length(input name=None unit='BYTE')
"""
# Names of these modules that stand in the first one under a longer one.
SHARED = {
    "debugging": "assert_equal assert_greater assert_less assert_greater_equal assert_less_equal assert_none_equal "
                 "assert_near assert_negative assert_non_negative assert_non_positive assert_positive assert_rank "
                 "assert_rank_at_least assert_rank_in assert_scalar assert_integer assert_type",
    "io": "decode_csv decode_raw",
    "math": "argmax argmin confusion_matrix count_nonzero reduce_all reduce_any reduce_logsumexp reduce_max "
            "reduce_mean reduce_min reduce_prod reduce_sum",
    "nn": "depth_to_space space_to_depth",
    "sparse": "add=sparse_add concat=sparse_concat reduce_max=sparse_reduce_max reduce_sum=sparse_reduce_sum",
    "strings": "reduce_join substr to_hash_bucket=string_to_hash_bucket to_number=string_to_number",
}
_nothing, _empty = object(), inspect.Parameter.empty


def _default(text):
    """Return the value that a default's text means: dtypes by name, all else as Python writes it."""
    return OBJECTS[text] if text in OBJECTS else ast.literal_eval(text)


def _made(name, home, words):
    """Return the old function of a line."""
    parameters, renamed, idle = [], {}, set()
    for word in words:
        head, _, default = word.partition("=")
        head, _, new = head.partition(">")
        if head.startswith("-"):
            head = head[1:]
            idle.add(head)
        if new:
            renamed[head] = new
        is_needed = not new and all(one.default is _empty for one in parameters)
        value = _default(default) if default else _empty if is_needed else _nothing
        parameters.append(inspect.Parameter(head, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    signature = inspect.Signature([one.replace(default=None) if one.default is _nothing else one for one in parameters])
    defaults = {one.name: one.default for one in parameters if one.default not in (_nothing, _empty, None)
                and one.name not in idle and one.name not in renamed}

    @functools.cache
    def target():
        from dragon.vm import tensorflow
        return functools.reduce(getattr, home.split("."), tensorflow)

    def function(*args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"tf.compat.v1.{name}: {error}; its arguments are {signature}") from None
        called = {}
        for word, value in given.items():
            new = renamed.get(word, word)
            if word in idle or value is None and (new != word or new in called):
                continue
            if called.get(new) is not None:
                raise ValueError(f"tf.compat.v1.{name}: got both '{word}' and another word for '{new}', expected one")
            called[new] = value
        return target()(**{**defaults, **called})
    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = f"Call `tf.{home}` with the arguments of TensorFlow 1."
    return function


def _read():
    """Return {module: {name: function}} of the table."""
    found, module = {}, None
    for line in TABLE.strip().splitlines():
        if line.startswith("["):
            module = line[1:-1]
            found[module] = {}
            continue
        head, _, words = line.rstrip(")").partition("(")
        name, _, home = head.partition("=")
        found[module][name] = _made(name, home or ".".join(filter(None, (module, name))), words.split())
    for module, names in SHARED.items():
        for word in names.split():
            name, _, other = word.partition("=")
            found.setdefault(module, {}).setdefault(name, found[""][other or name])
    return found


RENAMED = _read()
