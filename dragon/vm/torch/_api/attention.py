"""Attention: rows of PyTorch's names."""
ROWS = """
scaled_dot_product_attention(q=query k=key v=value)  _nn
"""
