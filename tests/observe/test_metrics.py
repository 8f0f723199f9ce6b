from kubedns.observe.metrics import Histogram, Labels, Metrics, Where
from kubedns.observe.rows import DURATION_SECONDS, METRICS, SIZE_OCTETS, Distribution, Metric


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


def labels(zone: str) -> Labels:
    return Labels(Where(zone), "A", "NOERROR", "kubernetes", dnssec_ok=False)


def test_responses_alike_are_one_count() -> None:
    counters = Metrics().responder("dns://:53", "udp", 1)
    for count in (2, 1, 0):
        counters.count(labels("cluster.local."), 40, 60, count)
    assert counters.responses == {labels("cluster.local."): 3}
    assert counters.zones[Where("cluster.local.")].request_octets.sum == 120


def test_durations_of_ready_responses_are_shared_out_by_the_zones_responses() -> None:
    counters = Metrics().responder("dns://:53", "udp", 1)
    for batch in (0.0002, 0.1, 3.0):
        for zone, count in (("a.", 70), ("b.", 30), ("c.", 1)):
            counters.count(labels(zone), 40, 60, count)
        counters.took(Where("c."), 5.0)
        counters.served(100, 100 * batch)
        counters.settle()
    durations = {where.zone: measured.durations for where, measured in counters.zones.items()}
    assert {zone: each.count for zone, each in durations.items()} == {"a.": 210, "b.": 90, "c.": 3}
    assert durations["c."].sum == 15.0
    assert durations["a."].counts[0] == 70
    before = {zone: list(each.counts) for zone, each in durations.items()}
    counters.settle()
    assert {zone: each.counts for zone, each in durations.items()} == before


def test_metric_names_say_their_unit() -> None:
    for metric in METRICS:
        assert metric.name.startswith(("coredns_", "kubedns_", "python_"))
        assert metric.name.endswith(
            ("_total", "_seconds", "_bytes", "_enabled", "_info", "_kept", "_entries", "_tasks", "_threads", "_stale")
        )
        assert metric.help.endswith(".")


def test_whoever_asks_again_goes_on_counting() -> None:
    metrics = Metrics()
    row, distribution = Metric("kubedns_x_total", ("to",), "X."), Distribution("kubedns_y_seconds", ("to",), "Y.")
    for _ in range(2):
        metrics.cell(row, "a").add()
        metrics.histogram(distribution, "a").add(0.1)
    metrics.cell(row, "b").add(5)
    assert {labels: cell.value for labels, cell in metrics.cells[row].items()} == {("a",): 2, ("b",): 5}
    assert metrics.histogram(distribution, "a").count == 2
