"""Residual networks: blocks whose inputs are added to their outputs; norms behind, or before, convolutions."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications.frame import application, norm, stored

EPSILON = 1.001e-5
DEPTHS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def _norm(x, name):
    return norm(x, name, epsilon=EPSILON)


def _relu(x, name):
    return layers.Activation("relu", name=name)(x)


def block_v1(x, width, stride, has_projection, name):
    """Return a block of the first version: norms behind convolutions."""
    shortcut = x
    if has_projection:
        shortcut = layers.Conv2D(4 * width, 1, strides=stride, name=f"{name}_0_conv")(x)
        shortcut = _norm(shortcut, f"{name}_0_bn")
    x = layers.Conv2D(width, 1, strides=stride, name=f"{name}_1_conv")(x)
    x = _relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = layers.Conv2D(width, 3, padding="SAME", name=f"{name}_2_conv")(x)
    x = _relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = _norm(layers.Conv2D(4 * width, 1, name=f"{name}_3_conv")(x), f"{name}_3_bn")
    return _relu(layers.Add(name=f"{name}_add")([shortcut, x]), f"{name}_out")


def block_v2(x, width, stride, has_projection, name):
    """Return a block of the second version: norms before convolutions."""
    ready = _relu(_norm(x, f"{name}_preact_bn"), f"{name}_preact_relu")
    if has_projection:
        shortcut = layers.Conv2D(4 * width, 1, strides=stride, name=f"{name}_0_conv")(ready)
    else:
        shortcut = layers.MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = layers.Conv2D(width, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(ready)
    x = _relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name=f"{name}_2_pad")(x)
    x = layers.Conv2D(width, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = _relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = layers.Conv2D(4 * width, 1, name=f"{name}_3_conv")(x)
    return layers.Add(name=f"{name}_out")([shortcut, x])


def _stacks(x, depths, version):
    """Return four stacks of blocks: images shrink in a stack's first block, in the second version in its last."""
    for number, depth in enumerate(depths):
        width, name = 64 * 2 ** number, f"conv{number + 2}"
        for block in range(1, depth + 1):
            if version == 1:
                stride = 2 if block == 1 and number > 0 else 1
                x = block_v1(x, width, stride, block == 1, f"{name}_block{block}")
            else:
                stride = 2 if block == depth and number < 3 else 1
                x = block_v2(x, width, stride, block == 1, f"{name}_block{block}")
    return x


def make(depth, version):
    """Return the function that makes a network of a depth."""
    title = f"ResNet{depth}" + ("V2" if version == 2 else "")

    def make_body(weights):
        def body(x):
            x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(x)
            x = layers.Conv2D(64, 7, strides=2, use_bias=True, name="conv1_conv")(x)
            if version == 1:
                x = _relu(_norm(x, "conv1_bn"), "conv1_relu")
            x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
            x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
            x = _stacks(x, DEPTHS[depth], version)
            return _relu(_norm(x, "post_bn"), "post_relu") if version == 2 else x
        return body
    return application(title, title.lower(), make_body, origin=stored("resnet", title.lower()))
