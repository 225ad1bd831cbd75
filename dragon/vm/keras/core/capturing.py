"""What captured graphs take for granted of layers and models; others tell it of themselves, in their own files."""
from dragon.core.capture.rules import Rules
from dragon.vm.keras.core.layer_state import LayerState
from dragon.vm.keras.core.operation import Operation
from dragon.vm.keras.core.tracking import TrackedDict, TrackedList, TrackedSet

# What layers keep for being built, saved and drawn, and what a call leaves behind; what is read off a `call`'s code.
_LAYER = frozenset("""_allow_non_tensor_positional_args _auto_config _build_shapes_dict _call_context_args
    _call_has_context_arg _call_has_mask_arg _call_has_training_arg _call_signature _called _default_training
    _inbound_nodes _input_spec _input_specs _is_building _lock _loss_ids _losses _outbound_nodes _parent_path _path
    _takes_first _tracked _tracker call_signature_parameters name supports_jit""".split())
# The graph of a model never changes; its layers are found among the model's.
_GRAPH = frozenset("""_input_layers _nodes _nodes_by_depth _operations _operations_by_depth _operations_by_name _order
    _output_layers""".split())
_INITIALIZERS = frozenset(f"{name}_initializer" for name in """beta bias depthwise embeddings gamma kernel moving_mean
    moving_variance pointwise recurrent""".split())
# What the loops of `fit`, `evaluate` and `predict` keep.
_TRAINER = frozenset("""_compile_arguments _initial_epoch _jit_compile _run_eagerly _validation compiled history
    predict_function steps_per_execution stop_evaluating stop_predicting stop_training test_function
    train_function""".split())
# What decides how a layer of a user's class computes, whether the class's own code names it or not.
_ALWAYS = frozenset("""_compile_loss _compile_metrics _convert_input_args _dtype_policy _functional _is_plain _layers
    _loss_tracker _losses_override _metrics _non_trainable_variables _remat_mode _seed_generators _supports_masking
    _trainable _trainable_variables activity_regularizer
    autocast built optimizer training""".split())


def register(*bases):
    """Tell the guards; done once, when models can be trained.

    Parameters
    ----------
    *bases : type
        Classes whose methods ask for no attribute that decides anything and is not among those that are always watched.

    """
    Rules.roots |= {kind for base in bases for kind in base.__mro__}
    Rules.never[Operation] = Rules.never[LayerState] = _LAYER | _TRAINER | _GRAPH | _INITIALIZERS
    Rules.always[LayerState] = _ALWAYS
    Rules.never[TrackedList] = Rules.never[TrackedDict] = Rules.never[TrackedSet] = frozenset(("tracker",))
