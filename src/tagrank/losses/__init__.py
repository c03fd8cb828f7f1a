"""What one example asks of its scores: the exact block step, the value, the conjugate."""
