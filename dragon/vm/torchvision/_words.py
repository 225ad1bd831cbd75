"""Arguments of one name, told once for a whole family: the words that complete docstrings, as `docstrings.py` says."""
WORDS = """
[torchvision.datasets]
train : bool : The training images, or those for tests.
transform, target_transform : Callable : Applied to the image, and to the class.
download : bool : Whether to fetch files that are missing.
[torchvision.models]
norm_layer : Callable : The normalization.
init_weights : bool : Whether to initialize.
aux_logits : bool : Whether there are classes from the middle.
transform_input : bool : Whether to normalize as old checkpoints expect.
stochastic_depth_prob : float : That of dropping the last block.
width_mult : float : Multiplies the channels.
last_channel : int : The features before the classes.
num_classes : int : The classes.
dropout : float : The probability of zeroing before the classes.
block, norm_layer : Callable : The classes of blocks and normalizations.
[torchvision.transforms]
inplace : bool : Whether to write into the input.
interpolation : InterpolationMode : How pixels are made.
fill : Union[float, Sequence[float]] : The colour of what lies outside.
transforms : Sequence[Callable] : The transforms.
size : Union[int, Sequence[int]] : Height and width.
antialias, interpolation : optional : As for `Resize`.
max_size : int : The greatest length of the longer side.
p : float : The probability.
[torchvision.ops]
input : Tensor : Images (N, C, H, W).
boxes : Union[Tensor, List[Tensor]] : Rows (image, x1, y1, x2, y2), or boxes for each image.
output_size : Union[int, Tuple[int, int]] : Bins down and across.
spatial_scale : float : From the boxes' coordinates to pixels.
"""
