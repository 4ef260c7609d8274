"""Speech: weights swept over a grid, and systems of recognisers compared and combined."""
