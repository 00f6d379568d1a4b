"""Rows whose every text tries to be obeyed: by a browser, a Markdown renderer, a terminal, a spreadsheet, a shell."""

from __future__ import annotations

from typing import Any

SCRIPT = "<script>document.title='owned'</script>"
HANDLER = '"><img src=x onerror="document.title=\'owned\'">'
MARKDOWN = "**bold** [link](javascript:alert(1)) ![i](x) :red[x] $x^2$ `code` # head"
TERMINAL = "\x1b[31mred\x1b[0m \x1b]0;owned\x07"
FORMULA = '=HYPERLINK("x","owned")'
BIDI = "abc\u202etxt.exe"
SHELL = "$(touch owned); `touch owned` 'quoted'"
CLOSING = "</svg></style></textarea></script><h1>owned</h1>"
TEXTS = {
    "script": SCRIPT,
    "handler": HANDLER,
    "markdown": MARKDOWN,
    "terminal": TERMINAL,
    "formula": FORMULA,
    "bidi": BIDI,
    "shell": SHELL,
    "closing": CLOSING,
}
HUGE = "a megabyte of text " * 55_000
PROJECT = f"{MARKDOWN} {SCRIPT}"

Row = dict[str, Any]


def hostile_rows() -> list[Row]:
    """Memories, interactions and outcomes of one project, every text of them hostile, and one memory of a megabyte."""
    rows: list[Row] = []
    for number, (name, text) in enumerate(TEXTS.items()):
        memory_id = f"{name} {text}"
        rows.append(
            {
                "memory_id": memory_id,
                "changed_at": "2026-03-01T08:00:00Z",
                "status": "active" if number % 2 else "candidate",
                "project": PROJECT,
                "agent": text,
                "memory_type": text,
                "content": f"{text} says the memory called {name} twice",
                "reason": text,
                "changed_by": text,
                "confidence": 0.5,
            }
        )
        for day in range(2, 10):
            rows.append(
                {
                    "interaction_id": f"{name}-{day} {text}",
                    "created_at": f"2026-03-{day:02}T09:00:00Z",
                    "project": PROJECT,
                    "agent": text,
                    "session_id": f"{name}-{day}",
                    "prompt": f"Please {text}",
                    "response": f"{text} says the memory called {name} twice, done.",
                    "memories_used": [memory_id],
                }
            )
            rows.append(
                {
                    "outcome_id": f"{name}-{day}",
                    "interaction_id": f"{name}-{day} {text}",
                    "created_at": f"2026-03-{day:02}T09:01:00Z",
                    "project": PROJECT,
                    "agent": text,
                    "session_id": f"{name}-{day}",
                    "task_type": text,
                    "strategy": f"try {text}",
                    "success": day % 2 == 0,
                    "error_message": None if day % 2 == 0 else f"failed: {text}",
                }
            )
    rows.append(
        {
            "memory_id": "huge",
            "changed_at": "2026-03-01T08:00:00Z",
            "status": "active",
            "project": PROJECT,
            "content": HUGE,
        }
    )
    return rows
