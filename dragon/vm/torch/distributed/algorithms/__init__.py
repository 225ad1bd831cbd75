"""What training in several processes does besides its steps: `torch.distributed.algorithms`."""
