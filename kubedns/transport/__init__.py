"""Moves octets; knows no message."""
