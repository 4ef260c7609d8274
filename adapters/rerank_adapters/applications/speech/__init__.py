"""Commands for speech recognition: sweeps of weights over a grid, confusion networks, and voting of systems."""
