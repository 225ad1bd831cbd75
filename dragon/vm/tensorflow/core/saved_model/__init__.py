"""Programs that TensorFlow wrote into folders: read without TensorFlow, and run on the engine's operators."""
