"""What holds for all datasets of a process."""
debugging = [False]  # tf.data.experimental.enable_debug_mode
