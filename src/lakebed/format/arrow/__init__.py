"""How Arrow's types, arrays and kernels are used."""
