"""What every door of Dragon stands on: devices, dtypes, switches, custom functions, random state, printing."""
