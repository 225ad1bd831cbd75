"""`__torch_dispatch__`: classes and modes that answer for operators, below everything that records gradients."""
