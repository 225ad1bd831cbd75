"""Programs that genuine TensorFlow saves for these tests."""


def make_program(tf, folder):
    """Return a module of variables, tables, a file, nested parts and functions of several traces."""
    vocabulary = folder / "vocabulary.txt"
    vocabulary.write_text("x\ny\nz\n")

    class Program(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
            self.count = tf.Variable(0, trainable=False)
            pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
            self.table = tf.lookup.StaticHashTable(pairs, -1)
            lines = tf.lookup.TextFileInitializer(str(vocabulary), tf.string, -2, tf.int64, -1)
            self.words = tf.lookup.StaticVocabularyTable(lines, 2)
            self.changing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
            self.changing.insert(["k", "l"], tf.constant([5, 6], tf.int64))
            self.parts = [tf.Variable(1.0), {"k": tf.Variable(2.0)}, (tf.Variable(3.0), 4)]
            self.random = tf.random.Generator.from_seed(7)

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def __call__(self, x):
            self.count.assign_add(1)
            return {"out": tf.matmul(x, self.w), "n": self.count.read_value()}

        @tf.function
        def many(self, x, training=False, *, flag=1):
            return x * 2.0 if training else x + float(flag)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def look(self, words):
            return self.table.lookup(words), self.words.lookup(words), self.changing.lookup(words)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def collatz(self, n):
            steps = 0
            while n > 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            return steps

        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def ragged(self, rows):
            return tf.reduce_sum(rows, 1), rows * 2.0

        @tf.function
        def nested(self, x):
            return {"b": [x["p"] + 1.0, None], "a": (x["q"][0], {"c": x["q"][1] * self.parts[1]["k"]})}

        @tf.function(input_signature=[tf.TensorSpec([3], tf.float32)])
        def write(self, row):
            self.w[0].assign(row[:2])
            self.w.scatter_nd_add([[1, 1]], row[2:])
            return self.w.read_value()

        @tf.function(input_signature=[])
        def draw(self):
            return self.random.uniform([3]), self.random.normal([2])

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def slope(self, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.sin(x) * self.parts[0])
            return tape.gradient(y, x)

    made = Program()
    ones = tf.ones([3])
    for call in (lambda: made(tf.ones([1, 2])), lambda: made.many(ones), lambda: made.many(ones, True),
                 lambda: made.many(tf.ones([2, 2]), flag=3),
                 lambda: made.nested({"p": ones, "q": [tf.constant(1), tf.constant(2.0)]})):
        call()
    return made
