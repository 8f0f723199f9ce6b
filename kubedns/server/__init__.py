"""Puts rooms together; nothing else does."""
