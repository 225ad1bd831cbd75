"""Structured records: preprocessing layers for numbers and categories, dicts as inputs, class weights."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(8)
generator = np.random.default_rng(3)
COUNT = 800
records = {
    "age": generator.integers(18, 80, COUNT).astype("float32"),
    "income": generator.lognormal(3, 0.5, COUNT).astype("float32"),
    "city": generator.choice(["Oslo", "Lima", "Pune"], COUNT),
    "visits": generator.integers(0, 5, COUNT),
}
score = records["age"] / 40 + records["income"] / 30 + (records["city"] == "Lima") * 1.5 - records["visits"] * 0.2
labels = (score > 3).astype("int32")

inputs, features = {}, []
for name in ("age", "income"):
    inputs[name] = keras.Input((1,), name=name)
    normalize = layers.Normalization(name=f"normalize_{name}")
    normalize.adapt(records[name][:, None])
    features.append(normalize(inputs[name]))
inputs["city"] = keras.Input((1,), name="city", dtype="string")
lookup = layers.StringLookup(output_mode="one_hot", name="lookup_city")
lookup.adapt(records["city"])
print("cities", [str(city) for city in lookup.get_vocabulary()])
inputs["visits"] = keras.Input((1,), name="visits", dtype="int64")
encode = layers.IntegerLookup(output_mode="one_hot", vocabulary=[0, 1, 2, 3, 4], name="lookup_visits")

# Strings and integers are looked up in the input pipeline, the way to feed an accelerator well.
dataset = tf.data.Dataset.from_tensor_slices(({key: value[:, None] for key, value in records.items()}, labels))
dataset = dataset.batch(80).map(lambda x, y: (
    {"age": x["age"], "income": x["income"], "city": lookup(x["city"]), "visits": encode(x["visits"])}, y))
city, visits = keras.Input((4,), name="city"), keras.Input((6,), name="visits")
x = layers.concatenate([*features, city, visits])
x = layers.Dense(16, activation="relu")(x)
x = layers.Dropout(0.1, seed=3)(x)
output = layers.Dense(1, activation="sigmoid")(x)
model = keras.Model({"age": inputs["age"], "income": inputs["income"], "city": city, "visits": visits}, output)
model.compile("adam", "binary_crossentropy", metrics=["accuracy", keras.metrics.Precision(name="precision"),
                                                      keras.metrics.Recall(name="recall")])
history = model.fit(dataset, epochs=8, class_weight={0: 1.0, 1: 2.0}, verbose=0)
for epoch in (0, 7):
    print(" ".join(f"{name} {values[epoch]:.3f}" for name, values in history.history.items()))
one = {"age": np.array([[60.0]]), "income": np.array([[50.0]]), "city": lookup(np.array([["Lima"]])),
       "visits": encode(np.array([[1]]))}
print(f"probability {model.predict(one, verbose=0)[0, 0]:.3f}")
