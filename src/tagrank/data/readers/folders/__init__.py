"""Folders of pictures, whatever way their tags are stored."""
