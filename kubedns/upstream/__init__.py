"""Asking other servers."""
