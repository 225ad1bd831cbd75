"""`tf.profiler`: its one room is `experimental`."""
