"""Training in bfloat16 with float32 weights, and in float16 with a scaled loss."""
import keras
from keras import layers
from sklearn.datasets import load_digits

images, labels = load_digits(return_X_y=True)
images = images.astype("float32") / 16
for policy in ("mixed_bfloat16", "float32"):
    keras.utils.set_random_seed(35)
    keras.mixed_precision.set_dtype_policy(policy)
    model = keras.Sequential([keras.Input((64,)), layers.Dense(32, activation="relu"),
                              layers.Dense(10, dtype="float32", activation="softmax")])
    print(policy, model.layers[0].compute_dtype, model.layers[0].variable_dtype, model.layers[0].kernel.dtype)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(images, labels, batch_size=128, epochs=4, shuffle=False, verbose=0)
    print("loss", " ".join(f"{loss:.3f}" for loss in history.history["loss"]))
keras.mixed_precision.set_dtype_policy("float32")
optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.1))
keras.utils.set_random_seed(35)
model = keras.Sequential([keras.Input((64,)), layers.Dense(10)])
model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(images, labels, batch_size=128, epochs=3, shuffle=False, verbose=0)
print("scaled", " ".join(f"{loss:.3f}" for loss in history.history["loss"]), type(model.optimizer).__name__)
