"""`slowwave review curate`, and what leaves this machine when a model is asked."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_attacks import MEMORIES
from llm_home import KEY, QUESTIONS, LlmHome, llm_home
from llm_server import Reply, always, data_of, good_answer, is_curate
from small_home import SmallHome, memory

from slowwave.flows.cli import main as cli
from slowwave.flows.cli.curate import run_curate
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.llm.stage import QuestionsReport, asked_line

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmHome]:
    with llm_home(tmp_path, monkeypatch) as made:
        yield made


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli._exit_code(["review", "curate", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_asks_and_says_what_it_did(home, capsys):
    server = home.serve()
    code, out, _ = said(capsys)
    assert code == 0
    assert f"{QUESTIONS} answered" in " ".join(out.split())
    code, out, _ = said(capsys)
    assert (code, out) == (0, "nothing to ask: every question has its answer\n")
    assert len(server.requests) == QUESTIONS


def test_limit_and_json(home, capsys):
    server = home.serve()
    code, out, _ = said(capsys, "--limit", "2", "--format", "json")
    facts = json.loads(out)
    assert (code, facts["answered"], facts["pending"], len(server.requests)) == (0, 2, QUESTIONS - 2, 2)


def test_a_dry_run_sends_nothing_and_shows_what_would_be(home, capsys):
    server = home.serve()
    files = home.contents()
    code, out, _ = said(capsys, "--dry-run", "--format", "json")
    assert (code, server.requests, home.contents()) == (0, [], files)
    facts = json.loads(out)
    assert (facts["open"], facts["requests"], len(facts["prompts"])) == (QUESTIONS, QUESTIONS, QUESTIONS)
    home.asked()
    sent = {request["messages"][0]["content"] + request["messages"][1]["content"] for request in server.requests}
    assert {one["system"] + one["user"] for one in facts["prompts"]} == sent
    assert facts["prompt_tokens"] == sum(one["tokens"] for one in facts["prompts"])


def test_a_dry_run_needs_no_model_and_obeys_no_memory(home, capsys, monkeypatch):
    home.land(memory("\x1b[2Jx", content="\x1b]0;owned\x07 \u202e", changed_at="2026-03-09"))
    for name in ("SLOWWAVE_LLM_URL", "SLOWWAVE_LLM_MODEL", "SLOWWAVE_LLM_KEY"):
        monkeypatch.delenv(name, raising=False)
    code, out, _ = said(capsys, "--dry-run")
    assert code == 0
    assert "6 questions open" in out
    assert "SLOWWAVE_LLM_MODEL" in out
    assert not set("\x1b\x07\u202e") & set(out)


@pytest.mark.parametrize("missing", ["SLOWWAVE_LLM_URL", "SLOWWAVE_LLM_MODEL"])
def test_without_a_model_or_a_server_it_says_what_to_set(home, capsys, monkeypatch, missing):
    home.serve()
    monkeypatch.delenv(missing)
    code, out, err = said(capsys)
    assert (code, out) == (1, "")
    assert missing in err


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x/v1", "http://", "file:///etc/passwd"])
def test_a_url_that_is_none_is_told_and_the_night_goes_on(home, capsys, monkeypatch, url):
    home.serve()
    monkeypatch.setenv("SLOWWAVE_LLM_URL", url)
    assert said(capsys)[0] == 1
    result = home.nightly()
    assert result.status == "published"
    assert "SLOWWAVE_LLM_URL is no http(s) URL" in result.asked


def test_a_failing_server_fails_the_command(home, capsys):
    home.serve(always(status=401))
    code, out, _ = said(capsys)
    assert code == 1
    assert "HTTP 401" in " ".join(out.split())


def test_without_the_client_library_the_rules_go_on(home):
    home.serve()
    hide = (
        "import sys, importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'openai' else real(name, *a)\n"
        "sys.modules['openai'] = None\n"
        "from slowwave.flows.cli import main as cli; sys.argv = ['slowwave', 'review', 'curate']; cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert ".venv/bin/pip install '.[llm]'" in " ".join(done.stderr.split())


def test_the_library_is_loaded_only_where_a_model_is_asked():
    code = (
        "import slowwave.flows.nightly.nightly, slowwave.flows.cli.main, sys; raise SystemExit('openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"SLOWWAVE_LLM_URL": "http://localhost:1/v1"}, "set SLOWWAVE_LLM_MODEL and, "),
        ({"SLOWWAVE_LLM_MODEL": "some"}, "set SLOWWAVE_LLM_URL (such as http://localhost:8080/v1) and, "),
        ({}, "set SLOWWAVE_LLM_URL (such as http://localhost:8080/v1) and SLOWWAVE_LLM_MODEL and, "),
    ],
)
def test_curate_says_what_is_missing(tmp_path, monkeypatch, given, says):
    made = SmallHome(tmp_path / "home")
    made.land(memory("m1"))
    for name in ("SLOWWAVE_LLM_URL", "SLOWWAVE_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=re.escape(f"no language model: {says}")):
        run_curate(made.settings, dry_run=False, limit=None, output="text")


def test_one_request_is_one_request():
    assert asked_line(QuestionsReport(open=1, landed=1, tokens=9, calls=1)) == "1 answered with 1 request and 9 tokens"


def test_the_line_says_what_went_wrong_and_how_often():
    answers = QuestionsReport(open=9, landed=4, tokens=1_234, calls=12, ended="HTTP 500")
    answers.failed.update({"HTTP 500": 3})
    assert asked_line(answers) == (
        "4 answered with 12 requests and 1,234 tokens; 3 without an answer (HTTP 500 × 3); 5 pending: the rules'"
        " answer is shown, asked again next night"
    )


def test_the_key_is_sent_to_the_server_and_is_nowhere_else(home, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another")
    server = home.serve(
        lambda request: Reply(status=500, body=KEY.encode()) if not is_curate(request) else good_answer(request)
    )
    result = home.nightly()
    _, out, err = said(capsys)
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert "org-of-somebody-else" not in json.dumps(server.headers)
    assert KEY not in out + err + result.asked + str(home.landed().to_dicts()) + "".join(server.users())
    for path in home.folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_prompts_hold_texts_and_no_ids_times_or_projects(home):
    home.land(
        memory("m-secret-id", project="secret-project", content="A text.", changed_at="2026-03-09", agent="agent-x")
    )
    server = home.serve()
    home.asked()
    everything = json.dumps(server.requests)
    for word in ("m-secret-id", "secret-project", "agent-x", "2026-03", str(home.folder), "run_id"):
        assert word not in everything


def test_what_memories_say_changes_only_the_data(home):
    home.land(*[memory(f"x{at}", content=text, changed_at="2026-03-10") for at, text in enumerate(MEMORIES)])
    server = home.serve()
    home.asked()
    systems = {request["messages"][0]["content"] for request in server.requests}
    assert len(systems) == 2
    for request in server.requests:
        assert [message["role"] for message in request["messages"]] == ["system", "user"]
        assert set(data_of(request)) == {"new", "existing"}
    home.nightly()
    for row in home.published().values():
        assert row["target_memory_id"] is None or row["target_memory_id"] in row["considered_ids"]
