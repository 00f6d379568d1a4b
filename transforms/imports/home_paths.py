r"""Home folders in texts: `/home/ann/shop` and `C:\Users\ann\shop` become `~/shop` and `~\shop`, on any system."""

from __future__ import annotations

import re

from slowwave.transforms.imports.secrets.spans import has_any

_USER = r"[^\s/\\:*?\"'`<>|()\[\]{},;&$]+"
# Names of users on Windows may have spaces; they are separated from the text behind them by the separator that follows.
_SPACED = r"[^\s/\\:*?\"'`<>|,;][^/\\:*?\"'`<>|\r\n,;]{0,40}(?=[/\\])"
_SEPARATOR = r"(?:/|\\{1,4})"
_UNIX = (
    rf"(?:(?:/System/Volumes/Data)?/Users/(?!Shared\b)|(?:/var|/usr|/export)?/home/){_USER}|/(?:var/)?root(?![\w.-])"
)
_DRIVE = rf"(?:[A-Za-z]:|/(?:mnt/|cygdrive/)?[a-z](?=/Users)){_SEPARATOR}"
_WINDOWS = rf"{_DRIVE}(?:Users|Documents and Settings){_SEPARATOR}(?!Public\b)(?:{_SPACED}|{_USER})"
_WSL = rf"\\{{2,4}}wsl(?:\$|\.localhost)\\{{1,2}}[\w.-]+\\{{1,2}}(?:home\\{{1,2}}{_USER}|root(?![\w.-]))"
# Claude Code names the folder of a project after its path, with a hyphen for what is no letter.
_SLUG = r"(?<=[/\\])-(?:home|Users)-[^-/\\\s]+|(?<=[/\\])[A-Za-z]--Users-[^-/\\\s]+"
_HOME = re.compile(rf"(?:(?<=file://)|(?<![\w.~/\\-]))(?:{_WINDOWS}|{_UNIX}|{_WSL})|{_SLUG}")
_HINTS = ("/home/", "/Users/", "/root", "Users\\", "Settings\\", "wsl", "-home-", "-Users-")


def without_home(text: str) -> str:
    """`text` with `~` for every home folder that it names."""
    return _HOME.sub("~", text) if has_any(text, _HINTS) else text
