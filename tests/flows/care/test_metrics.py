"""Metrics of a home: what Prometheus's own parser reads of them, where they are written, and who shows them."""

from __future__ import annotations

import json
import math
import re
import stat
from pathlib import Path

import pytest
from capture_process import receiving
from prometheus_client.parser import text_string_to_metric_families
from shared_homes import plain_home
from small_home import SmallHome, interaction

from slowwave.flows.care.alerts import watch_night
from slowwave.flows.care.home_metrics import home_samples, write_textfile
from slowwave.flows.care.metrics import METRICS, Sample, metrics_text
from slowwave.flows.kernel.times import utc_now

DASHBOARD = Path(__file__).parents[3] / "dashboards" / "bi" / "slowwave.grafana.json"
_UNITS = ("_seconds", "_bytes", "_total", "_rows", "_files", "_items", "_state", "_success")
Values = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return plain_home(tmp_path / "home")


def parse(text: str) -> Values:
    """What Prometheus reads: values by name and labels."""
    families = list(text_string_to_metric_families(text))
    return {(one.name, frozenset(one.labels.items())): one.value for family in families for one in family.samples}


def value(found: Values, name: str, **labels: str) -> float:
    return found[f"slowwave_{name}", frozenset(labels.items())]


def test_names_say_their_unit_and_are_unique() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert re.fullmatch(r"slowwave_[a-z_]+", metric.name)
        assert metric.name.endswith(_UNITS), metric.name
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert metric.says.endswith(".")


def test_labels_are_read_as_they_were_written() -> None:
    evil = 'a"b\\n\nd{}'
    text = metrics_text({"slowwave_table_rows": [Sample(3, {"table": evil}), Sample(2**53, {"table": ""})]})
    assert parse(text) == {
        ("slowwave_table_rows", frozenset({("table", evil)})): 3,
        ("slowwave_table_rows", frozenset({("table", "")})): 2**53,
    }


def test_a_home_tells_of_its_night_landings_queues_and_tables(home: SmallHome) -> None:
    home.land(interaction("i2"), interaction("bad", prompt=" "))
    home.settings.inbox.mkdir()
    (home.settings.inbox / "one.jsonl").write_text("{}\n")
    now = utc_now()
    found = parse(metrics_text(home_samples(home.settings, now)))
    assert value(found, "last_night_success") == 1
    assert 0 < value(found, "last_night_duration_seconds") < 3600
    assert value(found, "newest_event_timestamp_seconds", table="interactions") == 1772442000  # 2026-03-02T09:00:00Z
    rows = {outcome: value(found, "landed_rows_total", outcome=outcome) for outcome in ("accepted", "quarantined")}
    assert rows == {"accepted": 3, "quarantined": 1}
    assert value(found, "inbox_files") == 1
    assert value(found, "table_rows", table="memory_health") == 1
    assert value(found, "check_state", check="landings") == 1
    assert value(found, "serving_file_bytes") == home.settings.current.stat().st_size
    assert any(name == "slowwave_stage_cpu_seconds" for name, _ in found)
    assert all(math.isfinite(one) for one in found.values())


@pytest.mark.parametrize("broken", ["no home", "no publish", "lake of another release"])
def test_what_cannot_be_read_is_left_out_and_its_check_is_there(broken: str, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    if broken != "no home":
        home.land(interaction("i1"))
    if broken == "lake of another release":
        (home.folder / "lake" / "FORMAT").write_text("99\n")
    found = parse(metrics_text(home_samples(home.settings, utc_now())))
    assert value(found, "check_state", check="publish") == 2
    assert not any(name == "slowwave_table_rows" for name, _ in found)


def test_a_night_writes_the_file_that_a_collector_of_another_user_reads(home: SmallHome, tmp_path: Path) -> None:
    path = tmp_path / "node" / "slowwave.prom"
    home.settings.settings_file.write_text(f'[metrics]\ntextfile = "{path}"\n')
    said: list[str] = []
    with watch_night(home.settings, said.append):
        pass
    assert "No such file" in said[0]
    assert "a folder that is there" in said.pop()
    path.parent.mkdir()
    for failure in (None, OSError("no room")):
        with pytest.raises(OSError, match="no room") if failure else watch_night(home.settings, said.append):
            if failure:
                with watch_night(home.settings, said.append):
                    raise failure
        assert value(parse(path.read_text()), "last_night_success") == 1
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        assert [one.name for one in path.parent.iterdir()] == ["slowwave.prom"]
        path.unlink()
    assert said == []


def test_a_file_that_no_collector_reads_is_refused(home: SmallHome) -> None:
    home.settings.settings_file.write_text('[metrics]\ntextfile = "slowwave.txt"\n')
    said: list[str] = []
    with watch_night(home.settings, said.append):
        pass
    assert ".prom" in said[0]
    for name, says in (("~nobody-of-that-name/a.prom", "has no home"), ("a\\u0000.prom", "null byte")):
        home.settings.settings_file.write_text(f'[metrics]\ntextfile = "{name}"\n')
        assert says in write_textfile(home.settings, utc_now())


def test_status_prints_them(home: SmallHome) -> None:
    done = home.ask("status", "--format", "prometheus")
    assert done.returncode == 0
    assert value(parse(done.stdout), "last_night_success") == 1


def test_the_receiver_shows_its_counts_and_those_of_the_home(home: SmallHome) -> None:
    with receiving(home.folder) as receiver:
        assert receiver.post("/interactions", {"prompt": "a"})[0] == 200
        status, headers, body = receiver.ask("GET", "/metrics")
        found = parse(body.decode())
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert value(found, "capture_rows_total", kind="interactions", result="taken") == 1
    assert value(found, "capture_commit_seconds_bucket", le="+Inf") == 1
    assert value(found, "last_night_success") == 1


def test_each_metric_of_the_dashboard_is_one_and_each_metric_is_shown() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    told = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    told += [variable["query"] for variable in dashboard["templating"]["list"]]
    named = {name for text in told for name in re.findall(r"slowwave_\w+", text)}
    known = {metric.name: metric.kind for metric in METRICS}
    plain = {
        name.removesuffix("_bucket") if known.get(name.removesuffix("_bucket")) == "histogram" else name
        for name in named
    }
    assert plain - known.keys() == set()
    assert known.keys() - plain <= {"slowwave_capture_written_bytes_total", "slowwave_capture_held_bytes"}
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places)
