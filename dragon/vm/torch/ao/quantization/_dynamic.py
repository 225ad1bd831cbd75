"""Models of floats made into models of fewer bits."""
import copy

from dragon.vm import torch
from dragon.vm.torch.ao.nn.quantized import dynamic
from dragon.vm.torch.ao.quantization.qconfig import (default_dynamic_qconfig, float16_dynamic_qconfig,
                                                     float_qparams_weight_only_qconfig)
from dragon.vm.torch.nn.modules import linear, rnn

DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS = {
    linear.Linear: dynamic.Linear, linear.NonDynamicallyQuantizableLinear: dynamic.Linear, rnn.LSTM: dynamic.LSTM,
    rnn.GRU: dynamic.GRU, rnn.LSTMCell: dynamic.LSTMCell, rnn.RNNCell: dynamic.RNNCell, rnn.GRUCell: dynamic.GRUCell}
# What each dtype of weights is quantized by, and which layers are without being named.
RECURRENT = (linear.Linear, rnn.LSTM, rnn.GRU, rnn.LSTMCell, rnn.RNNCell, rnn.GRUCell)
BY_DTYPE = {torch.qint8: (default_dynamic_qconfig, RECURRENT), torch.float16: (float16_dynamic_qconfig, RECURRENT),
            torch.quint8: (float_qparams_weight_only_qconfig, (torch.nn.EmbeddingBag, torch.nn.Embedding))}


def get_default_dynamic_quant_module_mappings():
    """Return the classes of layers of floats, and what takes their places."""
    return dict(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS)


def propagate_qconfig_(module, qconfig_dict=None, prepare_custom_config_dict=None):
    """Say of each module in a model how it is quantized, as `qconfig`.

    Parameters
    ----------
    module : Module
        The model.
    qconfig_dict : Dict[Union[str, type], QConfig], optional
        How modules of a name, or of a class, are quantized, and all below them that say nothing themselves.
    prepare_custom_config_dict : Dict[str, Any], optional
        Classes and names that are left alone: "non_traceable_module_class", "non_traceable_module_name".

    """
    custom, known = prepare_custom_config_dict or {}, qconfig_dict or {}

    def walk(module, parent, prefix):
        chosen = getattr(module, "qconfig", known.get(prefix, known.get(type(module), parent)))
        module.qconfig = chosen
        for name, child in module.named_children():
            path = f"{prefix}.{name}" if prefix else name
            if chosen is None or not (type(child) in custom.get("non_traceable_module_class", ())
                                      or name in custom.get("non_traceable_module_name", ())):
                walk(child, chosen, path)
    walk(module, None, "")


def swap_module(mod, mapping, custom_module_class_mapping=None, use_precomputed_fake_quant=False):
    """Return what takes a module's place, or the module itself.

    Parameters
    ----------
    mod : Module
        The module.
    mapping : Dict[type, type]
        The classes of modules, and what takes their places.
    custom_module_class_mapping : Dict[type, type], optional
        Classes of one's own, whose others have `from_observed`.
    use_precomputed_fake_quant : bool, optional, default=False
        Whether the module's own scales serve.

    Returns
    -------
    Module
        The other module, with the hooks of the first.

    """
    if getattr(mod, "qconfig", None) is None:
        return mod
    custom = (custom_module_class_mapping or {}).get(type(mod))
    if custom is None and type(mod) not in mapping:
        return mod
    if custom is not None:
        made = custom.from_observed(mod)
    else:
        made = mapping[type(mod)].from_float(mod, use_precomputed_fake_quant=use_precomputed_fake_quant)
    for hook in mod._forward_pre_hooks.values():
        made.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        made.register_forward_hook(hook)
    return made


def convert(module, mapping=None, inplace=False, remove_qconfig=True, is_reference=False,
            convert_custom_config_dict=None, use_precomputed_fake_quant=False):
    """Put quantized modules into the places of others, by their classes.

    Parameters
    ----------
    module : Module
        The model; its modules have a `qconfig`.
    mapping : Dict[type, type]
        The classes of modules, and what takes their places; each has `from_float`.
    inplace : bool, optional, default=False
        Whether the model itself is changed.
    remove_qconfig : bool, optional, default=True
        Whether `qconfig` is taken from the modules at the end.
    is_reference : bool, optional, default=False
        Whether floats stay floats, with quantization around them; False.
    convert_custom_config_dict : Dict[str, Any], optional
        Under "observed_to_quantized_custom_module_class", classes of one's own.
    use_precomputed_fake_quant : bool, optional, default=False
        Whether the modules' own scales serve.

    Returns
    -------
    Module
        The model.

    """
    if mapping is None or is_reference:
        came = "is_reference=True" if is_reference else "no mapping"
        raise NotImplementedError(f"convert: got {came}, expected a mapping such as "
                                  "get_default_dynamic_quant_module_mappings(): Dragon has layers of integers for "
                                  "dynamic quantization only, quantize_dynamic")
    model = module if inplace else copy.deepcopy(module)
    custom = (convert_custom_config_dict or {}).get("observed_to_quantized_custom_module_class", {})

    def walk(parent):
        for name, child in list(parent.named_children()):
            if type(child) not in custom:
                walk(child)
            parent._modules[name] = swap_module(child, mapping, custom, use_precomputed_fake_quant)
    walk(model)
    if remove_qconfig:
        for each in model.modules():
            each.__dict__.pop("qconfig", None)
    return model


def quantize_dynamic(model, qconfig_spec=None, dtype=torch.qint8, mapping=None, inplace=False):
    """Return a model whose linear and recurrent layers have weights of 8 bits, and quantize what comes at each call.

    Parameters
    ----------
    model : Module
        The model of floats.
    qconfig_spec : Union[Set[Union[str, type]], Dict[Union[str, type], QConfig]], optional
        Which layers are quantized, by class or name; or how. All that can be, without it.
    dtype : dtype, optional, default=torch.qint8
        What weights become: `torch.qint8` or `torch.float16`.
    mapping : Dict[type, type], optional
        The classes of layers, and what takes their places.
    inplace : bool, optional, default=False
        Whether the model itself is changed.

    Returns
    -------
    Module
        The model, for evaluation.

    Examples
    --------
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())
    >>> torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear})
    Sequential(
      (0): DynamicQuantizedLinear(in_features=4, out_features=2, dtype=torch.qint8, qscheme=torch.per_tensor_affine)
      (1): ReLU()
    )

    """
    if not isinstance(qconfig_spec, dict):
        if dtype not in BY_DTYPE:
            if qconfig_spec is None:
                raise ValueError(f"Don't know how to quantize with default settings for {dtype}. Provide full qconfig "
                                 "please")
            raise RuntimeError("Unknown dtype specified for quantize_dynamic: ", str(dtype))
        chosen, usual = BY_DTYPE[dtype]
        qconfig_spec = dict.fromkeys(usual if qconfig_spec is None else qconfig_spec, chosen)
    if mapping is None:
        mapping = get_default_dynamic_quant_module_mappings()
        for missing in (torch.nn.EmbeddingBag, torch.nn.Embedding):
            if missing in qconfig_spec and any(type(each) is missing for each in model.modules()):
                raise NotImplementedError(f"quantize_dynamic: got {missing.__name__}, expected linear and recurrent "
                                          "layers: Dragon has no tables of 8 bits")
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, qconfig_spec)
    return convert(model, mapping, inplace=True)
