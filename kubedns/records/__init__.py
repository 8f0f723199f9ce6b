"""Cluster → answers: a pure function of question, lister and options."""
