"""Servers, workers, and who coordinates them: `tf.distribute.ParameterServerStrategy` and its names."""
