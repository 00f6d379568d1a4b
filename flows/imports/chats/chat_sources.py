"""The sources of whole conversations: where each usually lies, and which files are its."""

from __future__ import annotations

from slowwave.flows.imports.chats.cursor_database import cursor_records
from slowwave.flows.imports.files import FileSource
from slowwave.flows.imports.json_records import json_elements
from slowwave.transforms.imports.chats.coding_agents import ATIF, COPILOT_CLI, GEMINI_CLI, OPENCODE
from slowwave.transforms.imports.chats.cursor import CURSOR
from slowwave.transforms.imports.chats.model_calls import LANGFUSE_UI, LANGSMITH, LITELLM, LLM_REQUESTS
from slowwave.transforms.imports.chats.web_exports import CHATGPT, CLAUDE_AI

CHATS = (
    FileSource(
        CURSOR,
        "conversations of Cursor",
        suffixes=(".vscdb", ".jsonl"),
        roots=(
            "~/.config/Cursor/User/globalStorage/state.vscdb",
            "~/Library/Application Support/Cursor/User/globalStorage/state.vscdb",
        ),
        reader=cursor_records,
    ),
    FileSource(CHATGPT, "exports of ChatGPT", suffixes=(".json",), reader=json_elements),
    FileSource(CLAUDE_AI, "exports of claude.ai", suffixes=(".json",), reader=json_elements),
    FileSource(
        GEMINI_CLI,
        "sessions of Gemini CLI",
        suffixes=(".json", ".jsonl"),
        roots=("~/.gemini/tmp",),
        reader=json_elements,
        matches=lambda name: name.startswith("session-"),
    ),
    FileSource(OPENCODE, "exports of OpenCode", suffixes=(".json",), reader=json_elements),
    FileSource(COPILOT_CLI, "sessions of GitHub Copilot CLI", roots=("~/.copilot/session-state",)),
    FileSource(LLM_REQUESTS, "logs of requests to models", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(LANGSMITH, "runs of LangSmith", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(LITELLM, "calls that LiteLLM logged", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(LANGFUSE_UI, "downloads from Langfuse's pages", suffixes=(".json", ".jsonl"), reader=json_elements),
    FileSource(ATIF, "trajectories in ATIF", suffixes=(".json", ".jsonl"), reader=json_elements),
)
