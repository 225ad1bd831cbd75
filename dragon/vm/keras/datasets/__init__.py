"""keras.datasets: small data sets that are fetched once and kept in `~/.keras/datasets`."""
