"""Scripts of torch's own functions and layers: what Dragon has in another form, in the words that scripts have."""
