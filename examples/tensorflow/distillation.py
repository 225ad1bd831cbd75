"""A small network taught by a larger one: compile and train_step overridden, temperature, two losses."""
import keras
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits

keras.utils.set_random_seed(29)
images, labels = load_digits(return_X_y=True)
images = images.astype("float32") / 16


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.teacher.trainable = False

    def compile(self, optimizer, metrics, student_loss, distillation_loss, alpha=0.3, temperature=3.0):
        super().compile(optimizer=optimizer, metrics=metrics)
        self.student_loss, self.distillation_loss = student_loss, distillation_loss
        self.alpha, self.temperature = alpha, temperature

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        taught = self.teacher(x, training=False)
        with tf.GradientTape() as tape:
            y_pred = self.student(x, training=True)
            loss = self.alpha * self.student_loss(y, y_pred) + (1 - self.alpha) * self.distillation_loss(
                ops.softmax(taught / self.temperature), ops.softmax(y_pred / self.temperature)) * self.temperature ** 2
        gradients = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.student.trainable_variables))
        for metric in self.metrics:
            if metric.name != "loss":
                metric.update_state(y, y_pred)
        return {**{name: value for name, value in self.get_metrics_result().items() if name != "loss"},
                "distilled": loss}

    def test_step(self, data):
        x, y = data
        y_pred = self(x, training=False)
        for metric in self.metrics:
            if metric.name != "loss":
                metric.update_state(y, y_pred)
        return {name: value for name, value in self.get_metrics_result().items() if name != "loss"}


teacher = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(10)])
teacher.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = teacher.fit(images[:1500], labels[:1500], batch_size=50, epochs=3, shuffle=False, verbose=0)
print("teacher", " ".join(f"{loss:.4f}" for loss in history.history["loss"]))
student = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(10)])
distiller = Distiller(student, teacher)
distiller.compile(keras.optimizers.Adam(1e-2), [keras.metrics.SparseCategoricalAccuracy(name="accuracy")],
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), keras.losses.KLDivergence())
history = distiller.fit(images[:1500], labels[:1500], batch_size=50, epochs=3, shuffle=False, verbose=0)
for epoch in range(3):
    print(f"distilled {history.history['distilled'][epoch]:.3f} accuracy {history.history['accuracy'][epoch]:.3f}")
print("test", {name: round(value, 2) for name, value in distiller.evaluate(
    images[1500:], labels[1500:], verbose=0, return_dict=True).items() if name == "accuracy"})
