"""Scripts: Python functions and modules checked and compiled to graphs, run here, and kept in PyTorch's archives."""
