"""Collections of tagged pictures or rows as the world stores them."""
