"""The first screen of dashboard and report: six answers about the memories of all projects, or of one."""

from __future__ import annotations
