"""What is reported: one row for each metric, with CoreDNS's names, labels and buckets where it has the like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DURATION_SECONDS: tuple[float, ...] = tuple(0.00025 * 2**n for n in range(16))
SIZE_OCTETS: tuple[float, ...] = (
    0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16_000, 32_000, 48_000, 64_000,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Metric:
    """One row of what is reported: ``name`` ends in the unit or in ``total``; ``labels`` are bounded in number."""

    name: str
    labels: tuple[str, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Distribution(Metric):
    """A row that is a histogram; ``bounds`` are those of its buckets."""

    bounds: Sequence[float] = DURATION_SECONDS


REQUESTS = Metric("coredns_dns_requests_total", ("server", "zone", "view", "proto", "family", "type"), "Queries read.")
RESPONSES = Metric("coredns_dns_responses_total", ("server", "zone", "view", "rcode", "plugin"), "Responses sent.")
DO_REQUESTS = Metric("coredns_dns_do_requests_total", ("server", "zone", "view"), "Queries with the DO bit.")
DURATION = Metric("coredns_dns_request_duration_seconds", ("server", "zone", "view"), "Time from query to response.")
REQUEST_SIZE = Metric("coredns_dns_request_size_bytes", ("server", "zone", "view", "proto"), "Octets of queries.")
RESPONSE_SIZE = Metric("coredns_dns_response_size_bytes", ("server", "zone", "view", "proto"), "Octets of responses.")
PANICS = Metric("coredns_panics_total", (), "Queries answered SERVFAIL because of an error in the program.")
PLUGINS = Metric("coredns_plugin_enabled", ("server", "zone", "view", "name"), "Plugins of each server block.")
BUILD = Metric("coredns_build_info", ("version", "revision", "goversion"), "1, with what runs as labels.")
ANSWERS_KEPT = Metric("kubedns_answers_kept", (), "Finished answers in the answer cache.")
ANSWERS_DROPPED = Metric(
    "kubedns_answers_dropped_total", ("reason",), "Answers forgotten: their data changed, they ended, or no room."
)
SOURCE_AGE = Metric("kubedns_source_age_seconds", ("source",), "Seconds since a source was last seen to be current.")
TRANSPORT_ERRORS = Metric(
    "kubedns_transport_errors_total", ("server", "proto", "error"), "What the system refused to a listener."
)
TRANSPORT_LIMITS = Metric(
    "kubedns_transport_limits_total", ("server", "proto", "limit"), "How often a limit of a listener was reached."
)
_TEMPLATE = ("server", "zone", "view", "class", "type")
TEMPLATE_MATCHES = Metric("coredns_template_matches_total", _TEMPLATE, "Questions that a template answered.")
TEMPLATE_FAILURES = Metric(
    "coredns_template_template_failures_total", (*_TEMPLATE, "section", "template"), "Templates that lacked a value."
)
TEMPLATE_RECORD_FAILURES = Metric(
    "coredns_template_rr_failures_total", (*_TEMPLATE, "section", "template"), "Templates that made no record."
)
DNS64_TRANSLATED = Metric("coredns_dns64_requests_translated_total", ("server",), "Answers with AAAA made of A.")
_CACHED = ("server", "zones", "view")
_CACHED_BY_TYPE = ("server", "type", "zones", "view")
CACHE_ENTRIES = Metric("coredns_cache_entries", _CACHED_BY_TYPE, "Answers that are kept.")
CACHE_HITS = Metric("coredns_cache_hits_total", _CACHED_BY_TYPE, "Queries answered from what is kept.")
CACHE_MISSES = Metric("coredns_cache_misses_total", _CACHED, "Queries for what is not kept.")
CACHE_REQUESTS = Metric("coredns_cache_requests_total", _CACHED, "Queries for what may be kept.")
CACHE_PREFETCHES = Metric("coredns_cache_prefetch_total", _CACHED, "Answers asked for ahead of their end.")
CACHE_DROPS = Metric("coredns_cache_drops_total", _CACHED, "Answers to another question than the one asked: none here.")
CACHE_STALE = Metric("coredns_cache_served_stale_total", _CACHED, "Queries answered from what has ended.")
CACHE_EVICTIONS = Metric("coredns_cache_evictions_total", _CACHED_BY_TYPE, "Answers forgotten for want of room.")
CERTIFICATE_FAILURES = Metric(
    "kubedns_certificate_failures_total", ("file",), "Changed certificates that could not be used."
)
HEALTH_DURATION = Distribution(
    "coredns_health_request_duration_seconds",
    (),
    "Time that the health page takes, asked once a second.",
    bounds=(0.00025, 0.0025, 0.025, 0.25, 2.5),
)
HEALTH_FAILURES = Metric("coredns_health_request_failures_total", (), "Times that the health page gave no answer.")
LOG_DROPPED = Metric("kubedns_log_lines_dropped_total", (), "Log lines that could not be written in time.")
PYTHON_TASKS = Metric("python_asyncio_tasks", (), "Tasks of the event loop.")
PYTHON_THREADS = Metric("python_threads", (), "Threads of the process.")
LOCALHOST_REQUESTS = Metric(
    "coredns_local_localhost_requests_total", (), "Questions for localhost with a domain behind it."
)
HOSTS_ENTRIES = Metric("coredns_hosts_entries", (), "Names in the hosts file and the lines beside it.")
HOSTS_RELOAD = Metric(
    "coredns_hosts_reload_timestamp_seconds", (), "When the hosts file that is in force was written, in Unix time."
)
_TO = ("to",)
_PROXY = ("proxy_name", "to")
FORWARD_REQUESTS = Metric("coredns_forward_requests_total", _TO, "Questions that went to an upstream.")
FORWARD_RESPONSES = Metric("coredns_forward_responses_total", (*_TO, "rcode"), "Replies that an upstream gave.")
FORWARD_DURATION = Distribution(
    "coredns_forward_request_duration_seconds", (*_TO, "rcode"), "Time from question to reply of an upstream."
)
FORWARD_PROBE_FAILURES = Metric("coredns_forward_healthcheck_failures_total", _TO, "Probes that went unanswered.")
FORWARD_BROKEN = Metric(
    "coredns_forward_healthcheck_broken_total", (), "Questions that found every upstream of a line down."
)
FORWARD_REJECTS = Metric(
    "coredns_forward_max_concurrent_rejects_total", (), "Questions refused because max_concurrent were under way."
)
PROXY_DURATION = Distribution(
    "coredns_proxy_request_duration_seconds", (*_PROXY, "rcode"), "Time from question to reply of an upstream."
)
PROXY_PROBE_FAILURES = Metric("coredns_proxy_healthcheck_failures_total", _PROXY, "Probes that went unanswered.")
PROXY_HITS = Metric(
    "coredns_proxy_conn_cache_hits_total", (*_PROXY, "proto"), "Questions that went over a kept connection."
)
PROXY_MISSES = Metric(
    "coredns_proxy_conn_cache_misses_total", (*_PROXY, "proto"), "Questions that needed a new connection."
)
SECONDARY_FAILURES = Metric(
    "kubedns_secondary_failures_total", ("zone",), "Times that no primary could say what a zone is."
)
RELOAD_FAILED = Metric("coredns_reload_failed_total", (), "Changed configurations that could not be taken over.")
RELOAD_VERSION = Metric("coredns_reload_version_info", ("hash", "value"), "1, with the configuration's hash.")
API_REQUESTS = Metric(
    "coredns_kubernetes_rest_client_requests_total", ("code", "method", "host"), "Requests to the API server."
)
API_DURATION = Distribution(
    "coredns_kubernetes_rest_client_request_duration_seconds",
    ("verb", "host"),
    "Time until the API server began its reply.",
)
PROGRAMMING_DURATION = Distribution(
    "coredns_kubernetes_dns_programming_duration_seconds",
    ("service_kind",),
    "Time from a change of a Pod or Service until it is answered.",
    bounds=tuple(0.001 * 2**n for n in range(20)),
)
API_SKIPPED = Metric("kubedns_api_objects_skipped_total", ("resource",), "Objects that cannot be used.")
API_LISTS = Metric("kubedns_api_lists_total", ("resource",), "Whole lists read from the API server.")
API_REPAIRS = Metric(
    "kubedns_api_repairs_total", ("resource",), "Objects that a list found other than the watch had left them."
)
API_FAILURES = Metric(
    "kubedns_api_failures_total", ("resource",), "Times that an error in the program ended what follows a resource."
)
SNAPSHOT_STALE = Metric("kubedns_snapshot_stale", ("file",), "1 while the snapshot is all that is known.")
SNAPSHOT_WRITES = Metric("kubedns_snapshot_writes_total", ("file", "result"), "Times that the snapshot was written.")
METRICS = (
    API_REQUESTS, API_DURATION, PROGRAMMING_DURATION, API_SKIPPED, API_LISTS, API_REPAIRS, API_FAILURES,
    SNAPSHOT_STALE, SNAPSHOT_WRITES,
    REQUESTS, RESPONSES, DO_REQUESTS, DURATION, REQUEST_SIZE, RESPONSE_SIZE, PANICS, PLUGINS, BUILD, ANSWERS_KEPT,
    HEALTH_DURATION, HEALTH_FAILURES, LOG_DROPPED, PYTHON_TASKS, PYTHON_THREADS,
    CACHE_ENTRIES, CACHE_HITS, CACHE_MISSES, CACHE_REQUESTS, CACHE_PREFETCHES, CACHE_DROPS, CACHE_STALE,
    CACHE_EVICTIONS, CERTIFICATE_FAILURES, LOCALHOST_REQUESTS, HOSTS_ENTRIES, HOSTS_RELOAD, RELOAD_FAILED,
    RELOAD_VERSION, SECONDARY_FAILURES,
    FORWARD_REQUESTS, FORWARD_RESPONSES, FORWARD_DURATION, FORWARD_PROBE_FAILURES, FORWARD_BROKEN, FORWARD_REJECTS,
    PROXY_DURATION, PROXY_PROBE_FAILURES, PROXY_HITS, PROXY_MISSES,
    SOURCE_AGE, TRANSPORT_ERRORS, TRANSPORT_LIMITS, TEMPLATE_MATCHES, TEMPLATE_FAILURES,
    TEMPLATE_RECORD_FAILURES, DNS64_TRANSLATED,
)  # fmt: skip
