"""Parts of models that keep nothing for the backward pass, and compute it again."""
