"""The page for those who write here: what it shows is run as it stands, and lands."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from capture_process import receiving
from otlp_exporter import EXPORTER
from small_home import SmallHome

from slowwave.flows.kernel.bearer_tokens import add_token

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[3] / "flows" / "capture" / "README.md").read_text()


def _shown(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def _asked(home: SmallHome, query: str) -> list[dict[str, object]]:
    assert home.ask("land").returncode == 0
    return json.loads(home.ask("sql", query, "--format", "json").stdout)


def test_python(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    (block,) = _shown("python")
    assert len(block.strip().splitlines()) <= 5
    environment = {**os.environ, "SLOWWAVE_HOME": str(home.folder)}
    subprocess.run([sys.executable, "-c", block], env=environment, check=True)
    assert _asked(home, "SELECT i.prompt, o.success FROM interactions i JOIN outcomes o USING (interaction_id)") == [
        {"prompt": "Push my branch", "success": True}
    ]


def test_http_and_otlp(tmp_path: Path):
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    home = SmallHome(tmp_path / "home")
    token = add_token(home.settings, "shop-api", "capture", "shop")
    posted, exported = _shown("bash")
    assert all(len(block.strip().splitlines()) <= 5 for block in (posted, exported))
    with receiving(home.folder) as receiver:
        environment = {**os.environ, "URL": receiver.url, "TOKEN": token, "PYTHON": sys.executable}
        done = subprocess.run(["bash", "-ec", posted], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.count('"refused":[]') == 2
        again = subprocess.run(["bash", "-ec", posted], env=environment, capture_output=True, text=True, check=True)
        assert again.stdout == done.stdout
        send = f"{exported}\n\"$PYTHON\" -c '{EXPORTER}' 'Push by OTLP'"
        subprocess.run(["bash", "-ec", send], env=environment, check=True, timeout=120)
    query = "SELECT prompt, i.project, success FROM interactions i LEFT JOIN outcomes USING (interaction_id) ORDER BY 1"
    assert _asked(home, query) == [
        {"prompt": "Push by OTLP", "project": "shop", "success": None},
        {"prompt": "Push my branch", "project": "shop", "success": True},
    ]
