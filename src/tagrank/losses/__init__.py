"""What one sample asks of its scores: exact steps, the value, and the bounds of its coefficients."""
