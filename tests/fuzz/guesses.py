"""What callables expect, guessed from signatures: argument names tell types, and types tell calls that may be right."""
import inspect

import numpy

from hostile import pick

# Types by the names of parameters, as PyTorch, NumPy and Keras name them.
WORDS = {
    "Tensor": """
        self input other x y x1 x2 x3 input1 input2 input3 tensor tensor1 tensor2 target targets weight bias mat
        mat1 mat2 mat3 vec vec1 vec2 batch1 batch2 query key value mask index indices src source image img a
        b A B u v gradient grad data logits loc scale rate concentration concentration0 concentration1 probs
        df low high base end values anchor positive negative boxes rois scores labels y_true y_pred inputs
        sample_weight training_data running_mean running_var attn_mask log_probs tau kernel variance mean
        offset signal window predictions preds""",
    "Tensor[]": "tensors xs params parameters matrices arrays outputs grads operands named_parameters sequences trees",
    "int": """
        dim axis n k m num dim0 dim1 axis1 axis2 start_dim end_dim groups num_classes num_features num_groups
        in_features out_features in_channels out_channels num_embeddings embedding_dim input_size
        hidden_size num_layers d_model nhead embed_dim num_heads in1_features in2_features upscale_factor
        downscale_factor diagonal offset_ n_fft start step steps length batch_size units filters repeats
        chunks sections max_norm_type num_samples blank depth seed rank level ord index_ num_units rows
        columns count size_ power_of_two input_dim output_dim total seq_len""",
    "int[]": """
        size shape sizes dims kernel_size stride padding dilation output_padding output_size axes normalized_shape
        split_size_or_sections reps perm permutation strides pool_size input_shape target_shape scale_factor
        new_shape pad shifts batch_shape event_shape sample_shape block_size resolution crop_size""",
    "float": """
        p eps epsilon alpha beta gamma lr momentum delta lambd threshold min max negative_slope std value_ rho lower
        upper a_ learning_rate rate_ temperature margin weight_decay dropout min_val max_val fill_value
        stddev minval maxval factor label_smoothing sigma max_norm q noise_shape_ tolerance rtol atol""",
    "str": "reduction mode padding_mode equation name activation kind method interpolation approximate data_format",
    "bool": """
        keepdim keepdims inplace affine training track_running_stats batch_first bidirectional ceil_mode descending
        stable largest sorted requires_grad non_blocking copy replacement align_corners unbiased log_target
        full""",
    "dtype": "dtype out_dtype", "device": "device",
    "callable": "func fn f function callable closure hook module map_fn transform loss_fn callback model layer",
}
TYPES = {word: kind for kind, words in WORDS.items() for word in words.split()}
SIZES = ((), (3,), (4, 3), (2, 3, 4), (2, 3, 4, 4), (3, 3), (1, 2, 3, 4, 4), (2, 0))


def describe(parameter):
    """Return a parameter of a signature as a schema tells arguments."""
    default = parameter.default
    kind = TYPES.get(parameter.name, TYPES.get(parameter.name.rstrip("_s"), "any"))
    if isinstance(default, (bool, int, float, str)) and kind in ("any", "Tensor"):
        kind = {bool: "bool", int: "int", float: "float", str: "str"}[type(default)]
    elif isinstance(default, (tuple, list)):
        kind = "int[]"
    return {"name": parameter.name, "type": kind, "has_default": default is not parameter.empty,
            "keyword_only": parameter.kind is parameter.KEYWORD_ONLY}


def describe_callable(found, skip_self=False, in_torch=False):
    """Return the arguments of a callable; some of any kind if it does not tell."""
    from dragon.command import coverage
    schema = coverage.schema_of(found)
    if schema is not None:
        arguments = [dict(argument) for argument in schema["arguments"]]
        for argument, word in zip(arguments, coverage.keywords_of_operator(found, schema) if in_torch else ()):
            argument["name"] = word
        arguments.append({"name": "out", "type": "Tensor", "has_default": True, "keyword_only": True})
    else:
        try:
            parameters = list(inspect.signature(found).parameters.values())
        except (TypeError, ValueError):
            parameters = None
        arguments = describe_parameters(parameters)
    return arguments[1:] if skip_self else arguments


def describe_parameters(parameters):
    """Return the arguments that parameters are, `*args` as two of any kind."""
    if parameters is None:
        return [{"name": f"argument{place}", "type": "any", "has_default": place > 0, "keyword_only": False}
                for place in range(3)]
    found = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            found += [{"name": f"{parameter.name}{place}", "type": TYPES.get(parameter.name, "any"),
                       "has_default": True, "keyword_only": False} for place in range(2)]
        elif parameter.kind is not parameter.VAR_KEYWORD:
            found.append(describe(parameter))
    return found


def tensor(kit, rng, name):
    """Return a tensor such as an argument of this name may well be."""
    size = pick(rng, SIZES)
    if name in ("index", "indices", "target", "targets", "labels") and rng.integers(2):
        return kit.make(rng.integers(0, 2, size))
    numbers = rng.random(size) if name in ("probs", "scale", "rate", "concentration") else rng.standard_normal(size)
    made = kit.make(numpy.asarray(numbers, "float32"))
    return kit.learn(made) if rng.integers(3) == 0 else made


def right(kit, rng, argument):
    """Return a value that an argument of this name and type may well have."""
    kind = argument["type"].rstrip("?!")
    if kind in ("Tensor", "any") or kind.startswith("Tensor") and "[" not in kind:
        return tensor(kit, rng, argument["name"])
    if kind.startswith("Tensor"):
        size = pick(rng, SIZES)
        return [kit.learn(kit.make(numpy.asarray(rng.random(size), "float32"))) for _ in range(2)]
    if kind == "int":
        return pick(rng, (0, 1, 2, 3, 4, -1))
    if kind.startswith("int["):
        return pick(rng, (1, 2, 3, (2, 3), (1, 1), (2,), (3, 4), (4, 3), (2, 3, 4)))
    if kind in ("float", "Scalar") or kind.startswith("float"):
        return pick(rng, (0.5, 0.1, 1.0, 2.0, 0.0))
    if kind == "bool":
        return bool(rng.integers(2))
    if kind == "str":
        return pick(rng, ("mean", "sum", "none", "zeros", "nearest", "relu", "ij,jk->ik", "a"))
    if kind == "dtype":
        return kit.dtype("float32")
    if kind == "device":
        return "cpu"
    return pick(rng, (lambda *args: args[0], lambda *args: args[0] * 2, lambda x: (x, x)))


def right_call(kit, rng, arguments):
    """Return (args, kwargs) that may well be right."""
    args, kwargs = [], {}
    for argument in arguments:
        if argument["has_default"] and rng.integers(4):
            continue
        if argument["keyword_only"] or argument["has_default"] or kwargs:
            kwargs[argument["name"]] = right(kit, rng, argument)
        else:
            args.append(right(kit, rng, argument))
    return args, kwargs
