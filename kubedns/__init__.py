"""kubedns: a cluster DNS server for Kubernetes.

One way for data to flow; a room imports only rooms that the data has passed before it, and the floor under all::

     API server ┐
     manifests  ┼→ cluster/sources → cluster/store ─lister→ records/ → plugins/ → resolver/ → transport/ → clients
     snapshot   ┘                                                         ↑
                                              corefile/ says which words, in which zones
     under all: dns/ (the words and the wire), observe/ (what is reported), errors.py
     over all: server/ (puts rooms together), cli/
"""

__version__ = "0.1.0"
