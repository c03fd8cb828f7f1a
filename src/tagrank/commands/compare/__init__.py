"""Every method on the same data: tuned, trained and measured alike."""
