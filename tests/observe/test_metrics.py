from kubedns.observe.metrics import DURATION_SECONDS, METRICS, SIZE_OCTETS, Histogram, Labels, Metrics


def test_values_are_counted_up_to_their_bound() -> None:
    histogram = Histogram((1, 10))
    for value, count in ((0, 1), (1, 1), (2, 3), (10, 1), (11, 2)):
        histogram.add(value, count)
    assert histogram.counts == [2, 4, 2]
    assert histogram.count == 8
    assert histogram.sum == 39


def test_buckets_are_the_fields() -> None:
    assert (DURATION_SECONDS[0], DURATION_SECONDS[-1], len(DURATION_SECONDS)) == (0.00025, 8.192, 16)
    assert (SIZE_OCTETS[9], len(SIZE_OCTETS)) == (8291, 14)


def test_responses_alike_are_one_count() -> None:
    metrics = Metrics()
    counters = metrics.responder("dns://:53", "udp", 1)
    labels = Labels("cluster.local.", "A", "NOERROR", "kubernetes", dnssec_ok=False)
    counters.count(labels, 40, 60, 2)
    counters.count(Labels("cluster.local.", "A", "NOERROR", "kubernetes", dnssec_ok=False), 40, 60, 1)
    counters.count(labels, 40, 60, 0)
    assert [(entry, count) for _, entry, count in metrics.responses()] == [(labels, 3)]
    assert counters.request_octets.sum == 120


def test_metric_names_say_their_unit() -> None:
    for metric in METRICS:
        assert metric.name.startswith("coredns_")
        assert metric.name.endswith(("_total", "_seconds", "_bytes"))
        assert metric.help.endswith(".")
