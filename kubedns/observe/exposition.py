"""The counters as Prometheus reads them; the format is prometheus-client's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from kubedns.observe import rows
from kubedns.observe.metrics import Cell, Histogram, Metrics
from kubedns.observe.rows import Metric


@dataclass(frozen=True, slots=True)
class Gauges:
    """What is measured when it is asked for. ``plugins``: server, zone, view, word; ``source_ages``: seconds by source.

    ``answers_dropped``: how many, by reason.
    """

    version: str = ""
    answers_kept: int = 0
    tasks: int = 0
    threads: int = 0
    answers_dropped: Mapping[str, int] = field(default_factory=dict)
    plugins: tuple[tuple[str, str, str, str], ...] = ()
    source_ages: Mapping[str, float] = field(default_factory=dict)


def expose(metrics: Metrics, gauges: Gauges) -> str:
    """Everything counted and measured, in Prometheus's text format. The counters must have been settled."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Counters(metrics, gauges))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry).decode()


class _Counters(Collector):
    def __init__(self, metrics: Metrics, gauges: Gauges) -> None:
        self._metrics = metrics
        self._gauges = gauges

    def collect(self) -> Iterable[Family]:
        """The families, one for each row."""
        yield from self._responses()
        yield from self._zones()
        yield from self._transports()
        yield from self._reported()
        yield from self._measured()

    def _responses(self) -> Iterator[Family]:
        requests: dict[tuple[str, ...], int] = {}
        responses: dict[tuple[str, ...], int] = {}
        with_do: dict[tuple[str, ...], int] = {}
        for each in self._metrics.responders:
            for labels, count in each.responses.items():
                where = (each.server, *labels.where)
                _add(requests, (*where, each.proto, str(each.family), labels.type), count)
                _add(responses, (*where, labels.rcode, labels.plugin), count)
                _add(with_do, where, count if labels.dnssec_ok else 0)
        yield _counter(rows.REQUESTS, requests)
        yield _counter(rows.RESPONSES, responses)
        yield _counter(rows.DO_REQUESTS, with_do)

    def _zones(self) -> Iterator[Family]:
        durations: dict[tuple[str, ...], Histogram] = {}
        requests: dict[tuple[str, ...], Histogram] = {}
        responses: dict[tuple[str, ...], Histogram] = {}
        for each in self._metrics.responders:
            for place, measured in each.zones.items():
                where = (each.server, *place)
                _merge(durations, where, measured.durations)
                _merge(requests, (*where, each.proto), measured.request_octets)
                _merge(responses, (*where, each.proto), measured.response_octets)
        yield _histogram(rows.DURATION, durations)
        yield _histogram(rows.REQUEST_SIZE, requests)
        yield _histogram(rows.RESPONSE_SIZE, responses)

    def _transports(self) -> Iterator[Family]:
        errors: dict[tuple[str, ...], int] = {}
        limits: dict[tuple[str, ...], int] = {}
        panics = self._metrics.panics
        for each in self._metrics.transports:
            panics += each.panics
            for name, count in each.errors.items():
                _add(errors, (each.server, each.proto, name), count)
            for name, count in {"dropped": each.dropped, "refused": each.refused, **each.closed}.items():
                _add(limits, (each.server, each.proto, name), count)
        yield _counter(rows.TRANSPORT_ERRORS, errors)
        yield _counter(rows.TRANSPORT_LIMITS, limits)
        yield _counter(rows.PANICS, {(): panics})

    def _reported(self) -> Iterator[Family]:
        """What plugins report."""
        for row, cells in self._metrics.cells.items():
            family = _counter if row.name.endswith("_total") else _gauge
            yield family(row, {labels: _value(cell) for labels, cell in cells.items()})
        for distribution, histograms in self._metrics.histograms.items():
            yield _histogram(distribution, histograms)

    def _measured(self) -> Iterator[Family]:
        gauges = self._gauges
        yield _gauge(rows.PLUGINS, dict.fromkeys(gauges.plugins, 1.0))
        yield _gauge(rows.BUILD, {(gauges.version, "", ""): 1.0})
        yield _gauge(rows.ANSWERS_KEPT, {(): float(gauges.answers_kept)})
        yield _counter(rows.ANSWERS_DROPPED, {(reason,): count for reason, count in gauges.answers_dropped.items()})
        yield _gauge(rows.PYTHON_TASKS, {(): float(gauges.tasks)})
        yield _gauge(rows.PYTHON_THREADS, {(): float(gauges.threads)})
        yield _gauge(rows.SOURCE_AGE, {(source,): age for source, age in gauges.source_ages.items()})


def _add(counts: dict[tuple[str, ...], int], labels: tuple[str, ...], count: int) -> None:
    counts[labels] = counts.get(labels, 0) + count


def _merge(histograms: dict[tuple[str, ...], Histogram], labels: tuple[str, ...], part: Histogram) -> None:
    whole = histograms.setdefault(labels, Histogram(part.bounds))
    whole.sum += part.sum
    whole.counts = [count + more for count, more in zip(whole.counts, part.counts, strict=True)]


def _value(cell: Cell) -> float:
    return cell.value if cell.read is None else cell.read()


def _counter(row: Metric, counts: Mapping[tuple[str, ...], float]) -> Family:
    family = CounterMetricFamily(row.name, row.help, labels=row.labels)
    for labels, count in counts.items():
        family.add_metric(labels, count)
    return family


def _gauge(row: Metric, values: Mapping[tuple[str, ...], float]) -> Family:
    family = GaugeMetricFamily(row.name, row.help, labels=row.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def _histogram(row: Metric, histograms: Mapping[tuple[str, ...], Histogram]) -> Family:
    family = HistogramMetricFamily(row.name, row.help, labels=row.labels)
    for labels, histogram in histograms.items():
        family.add_metric(labels, list(_cumulative(histogram)), histogram.sum)
    return family


def _cumulative(histogram: Histogram) -> Iterator[tuple[str, float]]:
    up_to_here = 0
    for bound, count in zip([*map(_bound, histogram.bounds), "+Inf"], histogram.counts, strict=True):
        up_to_here += count
        yield bound, up_to_here


def _bound(value: float) -> str:
    """A bucket's bound as Go writes it, which is what dashboards compare with."""
    return f"{value:g}"
