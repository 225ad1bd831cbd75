"""Parameters that are averaged over processes now and then, in place of gradients in each step."""
