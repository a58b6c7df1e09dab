"""What figures show of a model itself: attention weights, and what its layers cost to compute."""
