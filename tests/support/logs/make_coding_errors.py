"""Makes tests/fixtures/coding_errors.ndjson: error messages of coding tools, each marked with the error it is.

Runs the programs of `coding_faults.py` several times, with other names, numbers, files and depths, and keeps what
they say: tool, error (the mark), message. Tools that are not installed are left out and named. Half of Python's
tracebacks are cut to their last line, and some messages get what an agent's shell puts before them; nothing else is
written by hand.
To make the set anew, or the part of the tools or errors named after it:
.venv/bin/python tests/support/logs/make_coding_errors.py
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from coding_faults import FAULTS, Fault

TARGET = Path(__file__).parents[2] / "fixtures" / "coding_errors.ndjson"
_OCCURRENCES = 4
NAMES = ("invoice", "customer", "basket", "ledger", "session", "parcel", "tariff", "voucher", "branch", "payload")
WORDS = ("alpha", "north", "amber", "violet", "seven", "cedar", "harbour", "winter", "copper", "meadow")
FILES = ("orders", "loader", "routes", "report", "billing", "import_all", "worker", "schema", "cleanup", "views")
_HOMES = ("/home/ada/shop", "/workspace/api", "/srv/build/app", "/Users/kim/code/web")
_NO_TOOL = 127
_LONGEST = 3_000


class _Server(BaseHTTPRequestHandler):
    """Answers as HTTP interfaces and agents' tools do when they fail."""

    def _say(self, status: int, body: dict[str, Any], indent: int | None = None) -> None:
        text = json.dumps(body, indent=indent).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        number = random.randint(1, 99)
        if "/limit/" in self.path or self.path.endswith("/models"):
            said = f"Rate limit reached for requests: limit {number} a minute, retry in {number / 7:.2f}s"
            self._say(429, {"error": {"message": said, "type": "requests", "code": "rate_limit"}}, indent=2)
        elif "/key/" in self.path:
            said = f"Invalid key {self.path.rsplit('/', 1)[1]}"
            self._say(401, {"error": {"message": said, "type": "authentication"}, "id": f"{number:x}"}, indent=2)
        elif "/busy/" in self.path:
            self._say(503, {"error": {"message": "The server is overloaded", "request": f"r-{number}"}}, indent=2)
        else:
            self._say(404, {"detail": "Not Found"})

    def do_POST(self) -> None:
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._say(200, {"is_error": True, "text": _tool_error(call["name"], call["arguments"])})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
        pass


def _tool_error(name: str, arguments: dict[str, Any]) -> str:
    path = arguments.get("path")
    if name not in {"read_file", "edit_file", "run"}:
        return f"Unknown tool: {name}. Available tools: read_file, edit_file, run"
    if name == "run":
        return f"Command timed out after {arguments['seconds']}s: {arguments['command']} --all"
    if not isinstance(path, str):
        return f"Input validation error: {path} is not of type 'string'"
    if path.endswith(".log"):
        size = f"{len(path) * 31.7:.1f} KB"
        return f"File content ({size}) exceeds the largest size read at once (256 KB); read a part of {path}"
    if name == "edit_file":
        if "count" in arguments:
            return f"Found {arguments['count']} matches of the text to replace in {path}, but expected 1"
        return f"Text to replace was not found in {path}: {arguments['old']}"
    return f"File does not exist: {path}"


def _blanks(rng: random.Random, fault: Fault, server: str) -> dict[str, str]:
    name, file = rng.choice(NAMES), rng.choice(FILES)
    number, other = rng.sample(range(11, 999), 2)
    given = {key: rng.choice(values) for key, values in fault.blanks.items()}
    return {
        "name": name, "Class": f"{name.title()}{file.title().replace('_', '')}", "word": rng.choice(WORDS),
        "file": file, "n": str(number), "m": str(other), "depth": str(rng.randint(0, 3)), "server": server,
        "quiet": rng.choice(["", "-q", "-v"]), **given,
    }  # fmt: skip


def _filled(text: str, blanks: dict[str, str]) -> str:
    return re.sub("<(" + "|".join(blanks) + ")>", lambda match: blanks[match[1]], text)


def _said(fault: Fault, blanks: dict[str, str], home: str) -> tuple[int, str]:
    """Exit code and what was written to stderr, or else to stdout; this machine's folders replaced."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in fault.files.items():
            path = Path(folder, _filled(name, blanks))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_filled(text, blanks))
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": os.environ["HOME"],
            "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "GOFLAGS": "-mod=mod", "GO111MODULE": "auto",
            "PIP_CONFIG_FILE": "/dev/null", "npm_config_userconfig": "/dev/null",
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-c", _filled(fault.command, blanks)],
            cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        said = (done.stdout + done.stderr).strip() or f"exit code {done.returncode}"
        for here, there in (
            (f"/private{folder}", home), (folder, home), (sys.prefix, f"{home}/.venv"), (sys.base_prefix, "/usr"),
            (os.environ["HOME"], "/home/dev"),
        ):  # fmt: skip
            said = said.replace(here, there)
        said = said.replace("/usr/bin/ld: /tmp/", "ld: ")  # gcc's object files
        return done.returncode, re.sub(r"127\.0\.0\.1:[0-9]{5}|localhost:[0-9]{5}", "localhost:8080", said)


def _recorded(fault: Fault, code: int, said: str, rng: random.Random, occurrence: int) -> str:
    """As an agent's log records it: whole with what its shell puts before, or the last line of a traceback."""
    if fault.tool == "agent":
        return json.loads(said)["text"]
    if fault.tool == "python" and occurrence % 2 and not fault.is_whole:
        lines = [line for line in said.splitlines() if re.match(r"[\w.]+(?:Error|Exception|Expired)\b", line)]
        return lines[-1] if lines else said
    return f"Exit code {code}\n{said}" if rng.random() < 0.4 else said


def _cut(message: str) -> str:
    """Long messages without their middle, as agents' clients keep them."""
    if len(message) <= _LONGEST:
        return message
    half = _LONGEST // 2
    return f"{message[:half]}\n... [{len(message) - _LONGEST} characters left out] ...\n{message[-half:]}"


def main() -> None:
    """Run everything, write the set, and say what was left out."""
    asked = set(sys.argv[1:]) or {fault.tool for fault in FAULTS}
    kept = [json.loads(line) for line in TARGET.read_text().splitlines()] if TARGET.exists() else []
    web = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    server = f"http://127.0.0.1:{web.server_address[1]}"
    rows, left_out = [], set()
    for fault in FAULTS:
        mark = f"{fault.tool}:{fault.name}"
        if not asked & {fault.tool, mark}:
            rows += [row for row in kept if row["error"] == mark]
            continue
        rng = random.Random(mark)
        for occurrence in range(_OCCURRENCES):
            blanks = _blanks(rng, fault, server)
            code, said = _said(fault, blanks, rng.choice(_HOMES))
            is_missing = code == _NO_TOOL and fault.tool != "bash"
            if is_missing or (code == 0 and fault.tool not in {"agent", "http", "make"}):
                left_out.add(f"{mark}: {said.splitlines()[-1][:80]}")
                continue
            message = _recorded(fault, code, said, rng, occurrence)
            rows.append({"tool": fault.tool, "error": mark, "message": _cut(message)})
        print(mark, file=sys.stderr)
    web.shutdown()
    TARGET.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    many = sum("\n" in row["message"] for row in rows)
    print(f"{len(rows)} messages of {len({row['error'] for row in rows})} errors, {many} of many lines")
    print("left out:", *(sorted(left_out) or ["nothing"]), sep="\n  ")


if __name__ == "__main__":
    main()
