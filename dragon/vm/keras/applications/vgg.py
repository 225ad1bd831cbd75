"""The networks of the Visual Geometry Group: convolutions of 3 x 3 in five blocks."""
from dragon.vm.keras import layers
from dragon.vm.keras.applications.frame import application, stored

WIDTHS = (64, 128, 256, 512, 512)


def make(title, counts):
    """Return the function that makes a network with so many convolutions in its blocks."""
    def make_body(weights):
        def body(x):
            for block, (count, width) in enumerate(zip(counts, WIDTHS), 1):
                for number in range(1, count + 1):
                    x = layers.Conv2D(width, (3, 3), activation="relu", padding="same",
                                      name=f"block{block}_conv{number}")(x)
                x = layers.MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
            return x
        return body

    def head(x, classes, activation):
        x = layers.Flatten(name="flatten")(x)
        for number in (1, 2):
            x = layers.Dense(4096, activation="relu", name=f"fc{number}")(x)
        return layers.Dense(classes, activation=activation, name="predictions")(x)
    name = title.lower()
    return application(title, name, make_body, head=head, pool_names=(None, None), origin=stored(name, name))
