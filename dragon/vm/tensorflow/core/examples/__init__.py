"""Examples as messages: `tf.train.Example`, how they are parsed, and datasets of them."""
