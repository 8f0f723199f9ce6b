"""Kubernetes objects and their newest versions. This room knows no DNS."""
