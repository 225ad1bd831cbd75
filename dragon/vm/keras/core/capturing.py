"""What captured graphs take for granted of layers, models, metrics and optimizers."""
from dragon.core.capture.rules import Rules
from dragon.vm.keras.core.global_state import get_global_attribute
from dragon.vm.keras.core.layer_state import LayerState
from dragon.vm.keras.core.operation import Operation
from dragon.vm.keras.core.tracking import TrackedDict, TrackedList, TrackedSet
from dragon.vm.keras.random import seed_generator

# What layers keep for being built, saved and drawn, and what a call leaves behind.
_LAYER = frozenset("""_auto_config _build_shapes_dict _called _call_signature _inbound_nodes _is_building _lock
    _loss_ids _losses _outbound_nodes _parent_path _path _tracker _tracked""".split())
# What the loops of `fit`, `evaluate` and `predict` keep.
_TRAINER = frozenset("""_compile_arguments _initial_epoch _jit_compile _run_eagerly _validation compiled history
    predict_function steps_per_execution stop_evaluating stop_predicting stop_training test_function
    train_function""".split())
# What decides how a layer of a user's class computes, whether the class's own code names it or not.
_ALWAYS = frozenset("""_compile_loss _compile_metrics _dtype_policy _layers _loss_tracker _metrics
    _non_trainable_variables _seed_generators _trainable _trainable_variables activity_regularizer
    autocast built optimizer training""".split())


def register():
    """Tell the guards; done once, when models can be trained."""
    Rules.never[Operation] = Rules.never[LayerState] = _LAYER | _TRAINER
    Rules.always[LayerState] = _ALWAYS
    Rules.never[TrackedList] = Rules.never[TrackedDict] = Rules.never[TrackedSet] = frozenset(("tracker",))
    seed_generator._step()  # there from now on, so that no call makes it
    Rules.globals.append(("keras.random", vars(seed_generator), ("_steps",)))
    Rules.switches.append(("global seed generator", _global_seed_generator))


def _global_seed_generator():
    return get_global_attribute(seed_generator.GLOBAL_SEED_GENERATOR)


register()
