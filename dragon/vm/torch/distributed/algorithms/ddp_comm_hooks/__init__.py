"""Ways to average gradients, for `DistributedDataParallel.register_comm_hook`."""
