"""OTLP files as they lie there: split, copied, packed, still being written, or written by something else."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import typer
import zstandard
from imports_run import aged, imported, landed
from otlp_documents import OTHER_TRACE, TRACE, agent, chat, log, logs, messages, search, span, span_id, traces

from slowwave.flows.cli.imports import run_import
from slowwave.flows.imports.sources import OTLP, _otlp_parts
from slowwave.flows.imports.trace_parts import KeptParts, join_units
from slowwave.flows.imports.units import Unit
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.transforms.imports.adapter import Context, Located, Made
from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes


def judged(name: str, label: str) -> dict[str, Any]:
    return {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label}


PORT = ("m-1", "The port of the database is 5432.", 0.9)
READ = {"gen_ai.input.messages": messages(("system", f"You know: {PORT[1]}"), ("user", "Which port?"))}
DOCUMENTS = [
    traces(span(1, agent("Which port?", "5432."), seconds=9), span(2, search(PORT), parent=1, start=1)),
    traces(span(3, chat(answered="5432.", further={"gen_ai.response.id": "r-1"} | READ), parent=1, start=3)),
    traces(
        span(4, {"gen_ai.operation.name": "create_memory", "gen_ai.memory.record.id": "m-2",
                 "gen_ai.memory.records": '[{"content": "Lint first."}]'}, trace=OTHER_TRACE),
    ),
    logs(log("gen_ai.evaluation.result", judged("c", "pass"), of=3)),
    logs(log("gen_ai.evaluation.result", judged("d", "fail") | {"gen_ai.response.id": "r-1"})),
]  # fmt: skip


def write_lines(path: Path, *documents: Any) -> Path:
    """A file of JSON lines that nothing was written to for two hours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in documents))
    return aged(path)


def test_traces_and_logs_land_and_land_again_as_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, folder = tmp_path / "home", tmp_path / "telemetry"
    write_lines(folder / "traces.json", *DOCUMENTS[:3])
    write_lines(folder / "logs.jsonl", *DOCUMENTS[3:])
    first = imported(home, "otlp", folder, capsys=capsys)
    assert first["exit"] == 0
    assert first["import"]["rows"] == {"interaction": 1, "outcome": 2, "memory": 1}
    (interaction,) = landed(home, Interactions)
    assert interaction["interaction_id"] == f"otlp:{TRACE}:{span_id(1)}"
    assert interaction["memories_used"] == ["m-1"]
    assert orjson.loads(interaction["extra"])["injection"] == "observed"
    outcomes = {one["basis_method"]: one for one in landed(home, Outcomes)}
    assert {name.rpartition(":")[2]: one["success"] for name, one in outcomes.items()} == {"c": True, "d": False}
    assert {one["interaction_id"] for one in outcomes.values()} == {interaction["interaction_id"]}
    assert [one["content"] for one in landed(home, Memories)] == ["Lint first."]

    assert imported(home, "otlp", folder, capsys=capsys)["import"]["unchanged"] == 1
    copied = tmp_path / "copied"
    for name, packed in (("b.jsonl.gz", gzip.compress), ("a.jsonl.zst", zstandard.ZstdCompressor().compress)):
        copied.mkdir(exist_ok=True)
        text = b"".join(orjson.dumps(one) + b"\n" for one in reversed(DOCUMENTS))
        (copied / name).write_bytes(packed(text))
        aged(copied / name)
    again = imported(home, "otlp", copied, capsys=capsys)
    assert again["import"]["rows"] == {"interaction": 1, "outcome": 2, "memory": 1}
    assert len(landed(home, Interactions)) == len(landed(home, Memories)) == 1
    assert len(landed(home, Outcomes)) == 2


def test_paths_that_are_named_are_read_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = write_lines(tmp_path / "calls.log", traces(span(1, chat())))
    texts = write_lines(tmp_path / "texts", logs(log("gen_ai.user.message", {}, of=1, body={"content": "Which port?"})))
    assert imported(tmp_path / "home", "otlp", calls, texts, capsys=capsys)["import"]["rows"] == {"interaction": 1}


def test_a_document_may_be_written_over_many_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "traces.json"
    path.write_bytes(orjson.dumps(DOCUMENTS[0], option=orjson.OPT_INDENT_2) + b"\n" + orjson.dumps(DOCUMENTS[1]))
    assert imported(tmp_path / "home", "otlp", path, capsys=capsys)["import"]["rows"] == {"interaction": 1}


def test_a_line_that_is_being_written_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    path = write_lines(tmp_path / "traces.json", traces(span(1, chat("One?", "1"))))
    whole = path.read_bytes()
    path.write_bytes(whole + orjson.dumps(traces(span(2, chat("Two?", "2"), trace=OTHER_TRACE)))[:100])
    told = imported(home, "otlp", path, capsys=capsys)
    assert told["import"]["rows"] == {"interaction": 1}
    assert sum(one["count"] for one in told["import"]["left_out"].values()) == 1
    path.write_bytes(whole + orjson.dumps(traces(span(2, chat("Two?", "2"), trace=OTHER_TRACE))))
    imported(home, "otlp", path, capsys=capsys)
    assert len(landed(home, Interactions)) == 2


def _message_to_json(path: Path) -> None:
    spans = traces(span(1, chat("Which port?")) | {"traceId": "pjcMdykVb5oXHylyyPBdlg==", "spanId": "QKWW8LGoYAk="})
    write_lines(path, spans)


def _proto(path: Path) -> None:
    path.write_bytes(b"\x00\x00\x00\x12\x0a\x10\x0a\x0e\x0a\x0c\x0a\x05svc.n\x12\x03\x0a\x01x")


def _compressed(path: Path) -> None:
    block = zstandard.ZstdCompressor().compress(orjson.dumps(DOCUMENTS[0]))
    path.write_bytes(len(block).to_bytes(4, "big") + block)


@pytest.mark.parametrize(
    ("write", "advice"),
    [(_message_to_json, "MessageToJson"), (_proto, "`format: json`"), (_compressed, "leave `compression` out")],
)
def test_what_is_no_otlp_json_is_refused_with_advice(
    write: Callable[[Path], None], advice: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "in" / "bad.json" if (tmp_path / "in").mkdir() is None else tmp_path)
    write_lines(tmp_path / "in" / "good.json", *DOCUMENTS[:2])
    for path, rows in ((tmp_path / "in", {"interaction": 1}), (tmp_path / "in" / "bad.json", {})):
        told = imported(tmp_path / "home", "otlp", path, capsys=capsys)
        assert told["import"]["rows"] == rows
        assert told["exit"] == 1
        assert advice in "".join(told["import"]["not_imported"])


def test_a_file_that_breaks_off_does_not_take_the_others_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = b"".join(orjson.dumps(traces(span(n, chat(f"{n}?"), trace=f"{n:032x}"))) + b"\n" for n in range(1, 2000))
    packed = gzip.compress(text)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json.gz").write_bytes(packed[: len(packed) // 2])
    write_lines(tmp_path / "in" / "b.json", *DOCUMENTS[:2])
    told = imported(tmp_path / "home", "otlp", tmp_path / "in", capsys=capsys)
    assert told["exit"] == 1
    assert "a.json.gz" in "".join(told["import"]["not_imported"])
    assert {"Which port?", "1?"} <= {one["prompt"] for one in landed(tmp_path / "home", Interactions)}


def test_hostile_lines_do_not_take_the_others_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "traces.json", *DOCUMENTS[:2])
    deep = b'{"resourceSpans":' + b"[" * 900 + b"]" * 900 + b"}\n"
    hostile = traces(span(7, chat("=cmd|'/c calc'!A0 \x00\x1b[2J </script>", "x"), trace=OTHER_TRACE))
    path.write_bytes(path.read_bytes() + b"\xff\xfe\n[1]\nnot json\n" + deep + orjson.dumps(hostile) + b"\n")
    told = imported(tmp_path / "home", "otlp", path, capsys=capsys)
    assert told["import"]["rows"] == {"interaction": 2}
    assert sum(told["import"]["refused"].values()) == 3


def test_secrets_stay_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = "sk-ant-" + "a1" * 20
    path = write_lines(tmp_path / "traces.json", traces(span(1, chat(f"Use {key}", "Done"))))
    imported(tmp_path / "home", "otlp", path, capsys=capsys)
    assert landed(tmp_path / "home", Interactions)[0]["prompt"] == "Use [secret:anthropic]"


def test_what_to_set_for_the_texts_is_told_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "traces.json", traces(span(1, chat())))
    options: dict[str, Any] = {"since": None, "dry_run": True, "project_map": None, "infers": True, "output": "table"}
    with pytest.raises(typer.Exit):
        run_import(Settings(tmp_path / "home"), ["otlp", str(path)], **options)
    told = "".join(capsys.readouterr().out.split())
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY" in told
    assert "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental" in told


def test_a_service_is_a_project_by_the_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "traces.json", traces(span(1, chat("Which port?")), service="shop-api"))
    projects = tmp_path / "projects.toml"
    projects.write_text('"shop-api" = "shop"\n')
    imported(tmp_path / "home", "otlp", path, capsys=capsys, project_map=str(projects))
    assert landed(tmp_path / "home", Interactions)[0]["project"] == "shop"


def test_rules_of_evaluations_stand_in_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    scored = {"gen_ai.evaluation.name": "relevance", "gen_ai.evaluation.score.value": 0.8}
    path = write_lines(tmp_path / "traces.json", DOCUMENTS[0], logs(log("gen_ai.evaluation.result", scored, of=1)))
    told = imported(home, "otlp", path, capsys=capsys)
    assert "outcome" not in told["import"]["rows"]
    assert any("'relevance'" in sort for sort in told["import"]["left_out"])
    (home / "settings.toml").write_text("[imports.otlp.evaluations]\nrelevance = { at_least = 0.7 }\n")
    assert imported(home, "otlp", path, capsys=capsys)["import"]["rows"]["outcome"] == 1
    (home / "settings.toml").write_text("[imports.otlp.evaluations]\nrelevance = { above = 0.7 }\n")
    with pytest.raises(UserError, match=r"\[imports.otlp\].*'relevance'"):
        imported(home, "otlp", path, capsys=capsys)


def test_what_comes_in_a_later_file_is_read_with_what_came_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    key = "sk-ant-" + "a1" * 20
    early = write_lines(tmp_path / "1.json", DOCUMENTS[0], traces(span(8, chat(f"Use {key}"), trace=OTHER_TRACE)))
    imported(home, "otlp", early, capsys=capsys)
    late = write_lines(tmp_path / "2.json", DOCUMENTS[1])
    judged_later = write_lines(tmp_path / "3.json", *DOCUMENTS[3:])
    for path in (late, judged_later):
        told = imported(home, "otlp", path, capsys=capsys)
        assert told["import"]["rows"]["interaction"] == 1
    versions = [one for one in landed(home, Interactions) if one["prompt"] == "Which port?"]
    assert {one["interaction_id"] for one in versions} == {f"otlp:{TRACE}:{span_id(1)}"}
    assert versions[-1]["memories_used"] == ["m-1"]
    assert {one["interaction_id"] for one in landed(home, Outcomes)} == {f"otlp:{TRACE}:{span_id(1)}"}

    whole = tmp_path / "whole"
    imported(whole, "otlp", early, late, judged_later, capsys=capsys)
    assert landed(whole, Interactions)[-1]["row_hash"] == landed(home, Interactions)[-1]["row_hash"]
    before = len(landed(home, Interactions)), len(landed(home, Outcomes))
    imported(home, "otlp", early, late, judged_later, capsys=capsys)
    imported(home, "otlp", early, capsys=capsys)
    assert (len(landed(home, Interactions)), len(landed(home, Outcomes))) == before

    kept = KeptParts(home / "lake" / "imports" / "otlp.parts", 7)
    assert len([*kept.lines()]) == 6
    assert not any(key.encode() in line.record for line in kept.lines())


def test_parts_are_kept_for_as_long_as_the_settings_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text("[imports.otlp]\nkeep_days = 1\n")
    kept = KeptParts(home / "lake" / "imports" / "otlp.parts", 1)
    path = tmp_path
    for number, day in enumerate((0, 0.5, 1.8), 1):
        path = write_lines(
            tmp_path / f"{day}.json", traces(span(1, chat("?"), trace=f"{number:032x}", start=day * 86_400))
        )
        imported(home, "otlp", path, capsys=capsys, dry_run=True)
        assert len([*kept.lines()]) == number - 1
        imported(home, "otlp", path, capsys=capsys)
        assert len([*kept.lines()]) == (number if number < 3 else 1)
    (home / "settings.toml").write_text("[imports.otlp]\nkeep_days = 0\n")
    imported(home, "otlp", path, capsys=capsys)
    assert [*kept.lines()] == []
    (home / "settings.toml").write_text("[imports.otlp]\nkeep_days = -1\n")
    with pytest.raises(UserError, match="keep_days"):
        imported(home, "otlp", path, capsys=capsys)


def test_damaged_parts_are_done_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    imported(home, "otlp", write_lines(tmp_path / "1.json", *DOCUMENTS), capsys=capsys)
    parts = home / "lake" / "imports" / "otlp.parts"
    whole = parts.read_bytes()
    for damaged in (b"", b"x", whole[: len(whole) // 2], whole[:-1] + b"x", whole + b"x"):
        parts.write_bytes(damaged)
        (home / "lake" / "imports" / "otlp.json").unlink(missing_ok=True)
        told = imported(home, "otlp", tmp_path / "1.json", capsys=capsys)
        assert told["exit"] == 0
        assert len(landed(home, Interactions)) == 1


def _all_made(units: list[Unit]) -> list[Made]:
    made: list[Made] = []
    for unit in units:
        records = [one for one in unit.read() if isinstance(one, Located)]
        made += OTLP.adapter.make_rows(records, Context())
    return sorted(made, key=repr)


def test_traces_of_large_files_are_read_in_parts(tmp_path: Path) -> None:
    documents = [traces(span(n, agent(f"{n}?", "yes"), trace=f"{n % 50 + 1:032x}")) for n in range(1, 200)]
    documents += [
        logs(log("gen_ai.evaluation.result", judged("c", "pass") | {"gen_ai.response.id": f"r-{n}"}, at=n))
        for n in range(1, 50)
    ]
    documents += [
        traces(span(900 + n, chat("x", further={"gen_ai.response.id": f"r-{n}"}), parent=n, trace=f"{n % 50 + 1:032x}"))
        for n in range(1, 40)
    ]
    feedback = {"evaluations.0.evaluation.name": "e", "evaluations.0.evaluation.label": "pass"}
    documents += [
        traces(span(1, feedback, trace=f"{n + 500:032x}", links=[{"traceId": f"{n:032x}", "spanId": span_id(899 + n)}]))
        for n in range(2, 40)
    ]
    write_lines(tmp_path / "a.json", *documents[::2])
    write_lines(tmp_path / "b.json", *documents[1::2])
    units = OTLP.find_units(tmp_path).units
    whole, parts = join_units(units, _otlp_parts), join_units(units, _otlp_parts, unit_bytes=9_000)
    assert len(whole) == 1
    assert len(parts) > 5
    assert _all_made(parts) == _all_made(whole)
    assert parts[0].name.endswith(f"(2 files), part 1 of {len(parts)}")


def test_records_that_an_earlier_import_kept_are_read_again_and_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    first = write_lines(tmp_path / "a.jsonl", traces(span(1, agent("Which port?", "5432."), seconds=9)))
    later = write_lines(tmp_path / "b.jsonl", traces(span(2, chat("Which port?", "5432."), parent=1, start=1)))
    counts = [imported(home, "otlp", path, capsys=capsys)["import"] for path in (first, later)]
    assert [one["records"] for one in counts] == [{"span (turn)": 1}, {"span (call)": 1}]
    assert [one["rows"] for one in counts] == [{"interaction": 1}, {"interaction": 1}]
