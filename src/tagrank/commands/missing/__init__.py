"""Tags that pictures probably lack, or have by mistake."""
