"""One module per Corefile word; ``order.py`` is the table of them."""
