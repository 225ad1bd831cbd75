"""Where the names of Keras's source tree are here: modules of `keras.src`, and who knows their names.

`place: modules < places` reads: the modules below `place` take names from `places`, the first that knows one; without
`<`, from the public folder of the place. A place is a module of this guest; `name=place.other` is a single name that is
another one here. A module of the same path that lies beside `core` needs no line.
"""

PLACES = """
activations: activations
backend < backend core.convert core.dtypes core.keras_tensor core.masking core.scopes core.stateless core.variable \
core.device core.config core.spec core.shapes ops.core core.backend_facts backend_name_scope=core.scopes.name_scope
backend.common: backend_utils < core.shape_rules core.transposed_paddings core.backend_facts \
_get_output_shape_given_tf_padding=core.shape_rules.output_size_given_padding
backend: common tensorflow < backend core.convert core.dtypes core.keras_tensor core.masking \
core.scopes core.stateless core.variable core.device core.config core.spec core.shapes ops.core ops.numpy.lifting \
core.backend_facts
backend: numpy tensorflow.numpy < ops.numpy
backend: nn tensorflow.nn < ops.nn
backend: math tensorflow.math < ops.math
backend: linalg tensorflow.linalg < ops.linalg
backend: image tensorflow.image < ops.image
backend: random tensorflow.random < random
backend: core tensorflow.core < ops.core core.convert core.variable core.scopes core.device core.spec core.remat \
core.backend_facts
backend: rnn tensorflow.rnn < core.backend_facts
backend: tensorboard tensorflow.tensorboard < core.backend_facts
backend: trainer tensorflow.trainer < trainers.trainer trainers.epochs \
TensorFlowTrainer=trainers.trainer.Trainer
backend: layer tensorflow.layer < core.backend_facts
backend: export tensorflow.export < export.archive
backend: distribution_lib tensorflow.distribution_lib < distribution
backend: config < core.config
backend.common: dtypes < core.dtypes
backend.common: global_state < core.global_state
backend.common: keras_tensor < core.keras_tensor core.convert
backend.common: masking tensor_attributes < core.masking
backend.common: name_scope symbolic_scope < core.scopes
backend.common: remat < core.remat get_current_remat_mode=core.remat.current_remat_mode
backend.common: stateless_scope < core.stateless core.scopes
backend.common: variables < core.variable core.dtypes core.scopes core.shapes KerasVariable=core.variable.Variable
callbacks < callbacks MonitorCallback=callbacks.monitor_callback.MonitorCallback
constraints: constraints
datasets: npz_utils < datasets.sources load_npz=datasets.sources.load_objects
distillation: distillation_loss < distillation.losses
distribution: distribution_lib
dtype_policies: dtype_policy dtype_policy_map < core.dtype_policies \
_get_quantized_dtype_policy_by_str=core.dtype_policies.read_quantized
export < export layers
export: saved_model saved_model_export_archive < export.archive export.folders
export: tfsm_layer < layers
initializers: constant_initializers random_initializers < initializers initializers.chance
layers.convolutional: base_conv conv1d conv2d conv3d < layers.convolutional layers.convolutional.conv
layers.convolutional: base_conv_transpose conv1d_transpose conv2d_transpose conv3d_transpose < layers.convolutional \
layers.convolutional.conv_transpose
layers.convolutional: base_depthwise_conv depthwise_conv1d depthwise_conv2d < layers.convolutional \
layers.convolutional.depthwise_conv
layers.convolutional: base_separable_conv separable_conv1d separable_conv2d < layers.convolutional \
layers.convolutional.separable_conv
layers < layers GroupedQueryAttention=layers.GroupQueryAttention \
IndexLookup=layers.preprocessing.index_lookup.IndexLookup
layers: layer < layers.layer core.call_spec core.shapes
layers.merging: base_merge < layers.merging.merge
layers.merging: add average concatenate dot maximum minimum multiply subtract < layers.merging layers.merging.dot
layers.pooling: base_pooling average_pooling1d average_pooling2d average_pooling3d max_pooling1d max_pooling2d \
max_pooling3d < layers.pooling layers.pooling.window_pooling
layers.pooling: base_global_pooling global_average_pooling1d global_average_pooling2d global_average_pooling3d \
global_max_pooling1d global_max_pooling2d global_max_pooling3d < layers.pooling layers.pooling.global_pooling
layers.pooling: base_adaptive_pooling adaptive_average_pooling1d adaptive_average_pooling2d \
adaptive_average_pooling3d adaptive_max_pooling1d adaptive_max_pooling2d adaptive_max_pooling3d < layers.pooling \
layers.pooling.adaptive_pooling
layers.preprocessing: hashed_crossing mel_spectrogram stft_spectrogram < layers.preprocessing \
layers.preprocessing.spectrograms
layers.preprocessing: feature_space < layers.preprocessing.feature_space utils.feature_space
layers.preprocessing.image_preprocessing: base_image_preprocessing_layer < \
layers.preprocessing.image_preprocessing.base
layers.preprocessing.image_preprocessing: aug_mix center_crop clahe cut_mix equalization max_num_bounding_box mix_up \
rand_augment random_brightness random_color_degeneration random_color_jitter random_contrast random_crop \
random_elastic_transform random_erasing random_flip random_gaussian_blur random_grayscale random_hue random_invert \
random_perspective random_posterization random_rotation random_saturation random_sharpness random_shear \
random_translation random_zoom resizing solarization
layers.preprocessing.image_preprocessing: bounding_boxes bounding_boxes.bounding_box bounding_boxes.converters \
bounding_boxes.formats bounding_boxes.iou bounding_boxes.validation < \
layers.preprocessing.image_preprocessing.bounding_boxes utils.bounding_boxes \
densify_bounding_boxes=layers.preprocessing.image_preprocessing.bounding_boxes.densify
layers.regularization: gaussian_dropout gaussian_noise spatial_dropout < layers.regularization \
layers.regularization.dropout
layers.reshaping: cropping1d cropping2d cropping3d flatten permute repeat_vector up_sampling1d up_sampling2d \
up_sampling3d zero_padding1d zero_padding2d zero_padding3d
layers.rnn: conv_lstm1d conv_lstm2d conv_lstm3d < layers.rnn layers.rnn.conv_lstm
legacy.saving: json_utils saving_options saving_utils < saving.legacy_h5
legacy.saving: legacy_h5_format < saving.legacy_h5 save_model_to_hdf5=saving.legacy_h5.write_model \
load_model_from_hdf5=saving.legacy_h5.read_model
legacy.saving: serialization < legacy.saving
losses: losses < losses losses.wrapper losses.classification losses.regression losses.margins losses.regions
metrics: accuracy_metrics confusion_metrics correlation_metrics f_score_metrics hinge_metrics iou_metrics \
metrics_utils probabilistic_metrics reduction_metrics regression_metrics < metrics metrics.auc metrics.confusion \
metrics.means metrics.reduction metrics.iou
models < models models.functional
models: functional < models.functional core.function
models: sequential model < models.sequential models.model models.functional
ops < ops core.operation_classes random=src.random KerasTensor=core.keras_tensor.KerasTensor
ops.core < ops.core core.operation_classes
ops.einops < ops.einops core.operation_classes
ops.image < ops.image core.operation_classes
ops.linalg < ops.linalg core.operation_classes
ops.math < ops.math core.operation_classes
ops.nn < ops.nn core.operation_classes
ops.numpy < ops.numpy core.operation_classes core.shapes core.shape_rules
ops: function < core.function
ops: node symbolic_arguments < core.node core.keras_tensor
ops: operation < core.operation
ops: operation_utils < core.shape_rules core.graph_files core.shapes
optimizers: adadelta adafactor adagrad adamax adamw base_optimizer ftrl lamb lion loss_scale_optimizer multi_optimizer \
nadam rmsprop schedule_free_adamw sgd < optimizers optimizers.optimizer optimizers.scaling
optimizers.schedules: learning_rate_schedule
quantizers: awq_config gptq_config quantization_config utils < quantizers.configuration models.model \
validate_and_resolve_config=quantizers.configuration.resolve \
get_block_size_for_layer=quantizers.configuration.block_size_of should_quantize_layer=models.model.is_meant
quantizers: awq_core gptq_core < quantizers.calibration gptq_quantize=quantizers.calibration.calibrate \
awq_quantize=quantizers.calibration.calibrate
quantizers: gptq < quantizers.gptq _stable_permutation=quantizers.gptq.order_by_importance
quantizers < quantizers quantizers.groups
quantizers: quantizers < quantizers quantizers.quantizer quantizers.rounding quantizers.groups
random: random
regularizers: regularizers < regularizers regularizers.regularizer
saving: object_registration < saving.registration GLOBAL_CUSTOM_OBJECTS=saving.registration._objects \
GLOBAL_CUSTOM_NAMES=saving.registration._names
saving: saving_api saving_lib < saving.api saving.files saving.stores H5IOStore=saving.stores.WeightsStore \
save_weights_only=saving.files.write_weights load_weights_only=saving.files.read_weights \
_METADATA_FILENAME=saving.files.METADATA _CONFIG_FILENAME=saving.files.CONFIG
saving: serialization_lib < saving.serialization saving.registration core.config
trainers: compile_utils < trainers.compile_utils trainers.compile_metrics trainers.compile_loss
trainers: epoch_iterator < trainers.epochs
trainers.data_adapters: data_adapter < trainers.data_adapters.adapter
trainers.data_adapters: data_adapter_utils < trainers.data_adapters.data trainers.data_adapters.convert
trainers.data_adapters: array_data_adapter array_slicing < trainers.data_adapters.arrays \
ArrayDataAdapter=trainers.data_adapters.arrays.ArrayAdapter \
train_validation_split=trainers.data_adapters.arrays.split_arrays
trainers.data_adapters: generator_data_adapter tf_dataset_adapter torch_data_loader_adapter grain_dataset_adapter < \
trainers.data_adapters.iterables GeneratorDataAdapter=trainers.data_adapters.iterables.GeneratorAdapter \
TFDatasetAdapter=trainers.data_adapters.iterables.DatasetAdapter \
TorchDataLoaderAdapter=trainers.data_adapters.iterables.LoaderAdapter \
GrainDatasetAdapter=trainers.data_adapters.iterables.GrainAdapter
trainers.data_adapters: py_dataset_adapter < trainers.data_adapters.py_dataset
tree: dmtree_impl optree_impl torchtree_impl tree_api < tree core.tree
utils: audio_dataset_utils image_dataset_utils text_dataset_utils timeseries_dataset_utils
utils: backend_utils < core.config core.backend_facts
utils: dataset_utils < utils utils.splitting utils.directories
utils: dtype_utils < core.promotion
utils: file_utils < utils utils.downloads utils.archives utils.file_system
utils: image_utils < utils.image
utils: io_utils < core.messages
utils: model_visualization < utils.plotting
utils: module_utils < core.lazy_modules
utils: naming < core.naming
utils: numerical_utils < utils.numerical
utils < utils core.operation core.backend_facts
utils: python_utils < saving.code core.operation core.backend_facts callbacks.callback_list
utils: rng_utils < utils.rng
utils: sequence_utils < utils.sequence
utils: summary_utils < utils.summary
utils: tf_utils < core.backend_facts
utils: torch_utils < layers.core.module_wrapper
utils: traceback_utils < core.traceback
utils: tracking < core.tracking
wrappers: sklearn_wrapper utils fixes < wrappers wrappers.estimators
version < keras
"""
