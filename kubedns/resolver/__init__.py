"""A query's way: octets in, octets out; the chain of plugins and the answer cache."""
