"""The floor under every face of Dragon: devices, dtypes, switches, custom functions, random state, printing."""
