"""Lines that run tests in small projects, with what is true of each: for every runner that is told by its summary."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class RealRun:
    """A line that runs tests. `truth`: all tests of its last run passed; None: no test ran that could pass or fail."""

    runner: str
    name: str
    line: str
    files: dict[str, str]
    truth: bool | None


_GREEN = "def test_one():\n    assert True\n\n\ndef test_two():\n    assert True\n"
_RED = "def test_three():\n    assert [1] == [2]\n"
_SKIP = "import pytest\n\n\n@pytest.mark.skip\ndef test_four():\n    assert False\n"
_PYTHON = f"{sys.executable} -m"


def _pytest() -> Iterator[RealRun]:
    passing, failing = {"test_a.py": _GREEN}, {"test_b.py": _RED}
    pytest = f"{_PYTHON} pytest -p no:cacheprovider"
    dying = "import os, signal\n\n\ndef test_five():\n    os.kill(os.getpid(), signal.{})\n"
    saying = "import subprocess, sys\n\n\ndef test_six():\n    print('1 failed in 0.01s')\n"
    torn = (
        "import pytest\n\n\n@pytest.fixture\ndef f():\n    yield\n    assert False\n\n\ndef test_seven(f):\n    pass\n"
    )
    for name, line, files, truth in (
        ("pass", pytest, passing, True),
        ("fail", pytest, failing, False),
        ("mixed", pytest, passing | failing, False),
        ("mixed, quiet", f"{pytest} -q --tb=no", passing | failing, False),
        ("pass, quiet twice", f"{pytest} -qq", passing, True),
        ("pass, colours", f"{pytest} --color=yes -v", passing, True),
        ("fail, colours, masked", f"{pytest} --color=yes || true", failing, False),
        ("pass, piped", f"{pytest} 2>&1 | tail -3", passing, True),
        ("fail, piped", f"{pytest} 2>&1 | tail -2; echo done", failing, False),
        ("mixed, filtered", f"{pytest} -v | grep -E 'passed|failed'", passing | failing, False),
        ("mixed, only its head is seen", f"{pytest} | head -4", passing | failing, False),
        ("not to be imported", pytest, passing | {"test_c.py": "import nothing_like_it\n"}, False),
        ("no tests", pytest, {"test_d.py": ""}, None),
        ("only skipped", pytest, {"test_d.py": _SKIP}, None),
        ("listed only", f"{pytest} --collect-only -q", passing, None),
        ("killed by a signal", pytest, passing | {"test_e.py": dying.format("SIGSEGV")}, False),
        ("interrupted", pytest, passing | {"test_e.py": dying.format("SIGINT")}, False),
        ("two workers", f"{pytest} -n 2", passing, True),
        ("a worker dies", f"{pytest} -n 2 -q", passing | {"test_e.py": dying.format("SIGSEGV")}, False),
        ("a test prints a summary", f"{pytest} -s", {"test_f.py": saying}, True),
        ("fails when it is torn down", pytest, {"test_g.py": torn}, False),
        ("the last of two passes", f"{pytest} test_b.py; {pytest} test_a.py", passing | failing, True),
        ("the last of two fails", f"{pytest} test_a.py && {pytest} test_b.py -q", passing | failing, False),
        ("by make", "make test", passing | {"Makefile": f"test:\n\t{pytest}\n"}, True),
        ("into a file", f"{pytest} > log.txt 2>&1; tail -2 log.txt", failing, False),
        ("a wrong option", f"{pytest} --no-such-option", passing, False),
    ):
        yield RealRun("pytest", name, line, files, truth)


def _unittest() -> Iterator[RealRun]:
    head = "import unittest\n\n\nclass T(unittest.TestCase):\n"
    passing = {"test_a.py": f"{head}    def test_one(self): pass\n    def test_two(self): pass\n"}
    failing = {"test_b.py": f"{head}    def test_three(self): self.fail()\n"}
    skipping = {"test_d.py": f"{head}    @unittest.skip('x')\n    def test_four(self): self.fail()\n"}
    dying = {"test_e.py": f"{head}    def test_five(self):\n        import os\n        os.abort()\n"}
    script = {"test_a.py": passing["test_a.py"] + "\n\nunittest.main()\n"}
    unittest = f"{_PYTHON} unittest"
    for name, line, files, truth in (
        ("pass", unittest, passing, True),
        ("fail", unittest, failing, False),
        ("mixed", f"{unittest} -v", passing | failing, False),
        ("pass, quiet", f"{unittest} -q", passing, True),
        ("pass, piped", f"{unittest} 2>&1 | tail -3", passing, True),
        ("fail, piped and masked", f"{unittest} 2>&1 | tail -1 || true", failing, False),
        ("pass, only its last line is seen", f"{unittest} 2>&1 | tail -1", passing, True),
        ("not to be imported", f"{unittest} discover", {"test_c.py": "import nothing_like_it\n"}, False),
        ("no tests", unittest, {"test_x.py": ""}, None),
        ("only skipped", unittest, skipping, None),
        ("aborted", unittest, passing | dying, False),
        ("a script", f"{sys.executable} test_a.py", script, True),
        ("stops at the first failure", f"{unittest} -f", passing | failing, False),
    ):
        yield RealRun("unittest", name, line, files, truth)


def _of_node(runner: str, command: str, end: str, imports: str) -> Iterator[RealRun]:
    base = {"package.json": f'{{"name": "x", "scripts": {{"test": "{command}"}}}}'}
    passing = base | {f"a.test{end}": f"{imports}test('one', () => {{}})\ntest('two', () => {{}})\n"}
    failing = base | {f"b.test{end}": f"{imports}test('three', () => {{ expect(1).toBe(2) }})\n"}
    skipping = base | {f"d.test{end}": f"{imports}test.skip('four', () => {{ expect(1).toBe(2) }})\n"}
    broken = {f"c.test{end}": f"{imports}test('five', () => {{ ]\n"}
    dying = {f"e.test{end}": f"{imports}test('six', () => {{ process.exit(3) }})\n"}
    unhandled = base | {f"f.test{end}": f"{imports}test('seven', () => {{ Promise.reject(new Error('x')) }})\n"}
    for name, line, files, truth in (
        ("pass", f"npx {command}", passing, True),
        ("fail", f"npx {command}", failing, False),
        ("mixed", f"npx {command}", passing | failing, False),
        ("pass, colours", f"FORCE_COLOR=1 npx {command}", passing, True),
        ("mixed, colours, piped", f"FORCE_COLOR=1 npx {command} 2>&1 | tail -12", passing | failing, False),
        ("fail, masked", f"npx {command} || true", failing, False),
        ("pass, by npm", "npm test", passing, True),
        ("fail, by npm, silent", "npm test --silent 2>&1 | tail -20; echo done", failing, False),
        ("mixed, only one line is seen", f"npx {command} 2>&1 | grep 'Tests'", passing | failing, False),
        ("a file is broken", f"npx {command}", passing | broken, False),
        ("no tests", f"npx {command}", base, None),
        ("only skipped", f"npx {command}", skipping, None),
        ("the process ends", f"npx {command}", passing | dying, False),
        ("nobody waits for an error", f"npx {command}", unhandled, runner == "jest"),
    ):
        yield RealRun(runner, name, line, files, truth)


def _go() -> Iterator[RealRun]:
    head = 'package x\n\nimport "testing"\n\n'
    base = {"go.mod": "module example.org/x\n\ngo 1.19\n"}
    passing = base | {"a_test.go": f"{head}func TestOne(t *testing.T) {{}}\n"}
    failing = base | {"b_test.go": f'{head}func TestTwo(t *testing.T) {{ t.Error("x") }}\n'}
    below = {"y/c_test.go": f"{head}func TestThree(t *testing.T) {{}}\n".replace("package x", "package y")}
    broken = {"z/d_test.go": "package z\n\nfunc TestFour(t *T) {}\n"}
    panicking = base | {"e_test.go": f'{head}func TestFive(t *testing.T) {{ panic("x") }}\n'}
    endless = base | {"f_test.go": f"{head}func TestSix(t *testing.T) {{ for {{ }} }}\n"}
    for name, line, files, truth in (
        ("pass", "go test ./...", passing, True),
        ("fail", "go test", failing, False),
        ("mixed", "go test ./...", passing | failing | below, False),
        ("pass, all said", "go test -v ./...", passing | below, True),
        ("pass, piped", "go test ./... 2>&1 | tail -5", passing | below, True),
        ("mixed, piped and masked", "go test ./... 2>&1 | tail -1 || true", failing | below, False),
        ("mixed, failures filtered out", "go test ./... | grep ok", failing | below, False),
        ("not to be built", "go test ./...", passing | broken, False),
        ("no tests", "go test ./...", base | {"x.go": "package x\n"}, None),
        ("none chosen", "go test -run Nothing ./...", passing, None),
        ("panics", "go test ./...", panicking, False),
        ("out of time", "go test -timeout 100ms ./...", endless, False),
        ("measured", "go test -cover ./...", passing, True),
    ):
        yield RealRun("go", name, line, files, truth)


def _cargo() -> Iterator[RealRun]:
    base = {"Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n', "src/lib.rs": ""}
    passing = base | {"src/lib.rs": "#[test]\nfn one() {}\n"}
    failing = {"tests/b.rs": "#[test]\nfn two() { assert_eq!(1, 2); }\n"}
    broken = {"tests/c.rs": "#[test]\nfn three() { nothing(); }\n"}
    skipping = base | {"src/lib.rs": "#[test]\n#[ignore]\nfn four() {}\n"}
    dying = {"tests/d.rs": "#[test]\nfn five() { std::process::abort(); }\n"}
    cargo = "cargo test --offline"
    for name, line, files, truth in (
        ("pass", cargo, passing, True),
        ("fail", cargo, base | failing, False),
        ("mixed", cargo, passing | failing, False),
        ("pass, quiet", f"{cargo} -q", passing, True),
        ("mixed, to the end", f"{cargo} --no-fail-fast 2>&1", passing | failing, False),
        ("pass, piped", f"{cargo} --lib 2>&1 | tail -3", passing, True),
        ("mixed, piped and masked", f"{cargo} 2>&1 | tail -4 || true", passing | failing, False),
        ("mixed, failures filtered out", f"{cargo} 2>&1 | grep 'test result: ok'", passing | failing, False),
        ("not to be built", cargo, passing | broken, False),
        ("no tests", cargo, base, None),
        ("only skipped", cargo, skipping, None),
        ("aborted", cargo, passing | dying, False),
        ("built only", f"{cargo} --no-run", passing, None),
        ("pass, only the last part is seen", f"{cargo} 2>&1 | tail -3", passing, True),
    ):
        yield RealRun("cargo", name, line, files, truth)


def _rspec() -> Iterator[RealRun]:
    one = "RSpec.describe 'x' do\n  it('{}') {{ {} }}\nend\n"
    passing = {"spec/a_spec.rb": one.format("one", "expect(1).to eq 1")}
    failing = {"spec/b_spec.rb": one.format("two", "expect(1).to eq 2")}
    pending = {"spec/d_spec.rb": one.format("three", "pending; expect(1).to eq 2")}
    for name, line, files, truth in (
        ("pass", "rspec", passing, True),
        ("fail", "rspec", failing, False),
        ("mixed", "rspec -fd", passing | failing, False),
        ("pass, colours", "rspec --force-color", passing, True),
        ("pass, piped", "rspec | tail -3", passing, True),
        ("mixed, piped and masked", "rspec 2>&1 | tail -5 || true", passing | failing, False),
        ("mixed, filtered", "rspec | grep examples", passing | failing, False),
        ("not to be loaded", "rspec", {"spec/c_spec.rb": "require 'nothing_like_it'\n"}, False),
        ("no tests", "rspec", {"spec/x_spec.rb": ""}, None),
        ("only pending", "rspec", pending, None),
        ("aborted", "rspec", passing | {"spec/e_spec.rb": one.format("four", "Process.kill(:KILL, $$)")}, False),
        ("quits", "rspec", {"spec/e_spec.rb": one.format("five", "exit!(3)")}, False),
    ):
        yield RealRun("rspec", name, line, files, truth)


def _exunit() -> Iterator[RealRun]:
    project = (
        "defmodule X.MixProject do\n  use Mix.Project\n"
        '  def project, do: [app: :x, version: "0.1.0", elixir: "~> 1.14", deps: []]\nend\n'
    )
    base = {"mix.exs": project, "test/test_helper.exs": "ExUnit.start()\n", "lib/x.ex": "defmodule X do\nend\n"}
    one = 'defmodule {0}Test do\n  use ExUnit.Case\n{2}  test "{0}" do\n    {1}\n  end\nend\n'
    passing = base | {"test/a_test.exs": one.format("A", "assert 1 == 1", "")}
    failing = base | {"test/b_test.exs": one.format("B", "assert 1 == 2", "")}
    skipping = base | {"test/d_test.exs": one.format("D", "assert 1 == 2", "  @tag :skip\n")}
    for name, line, files, truth in (
        ("pass", "mix test", passing, True),
        ("fail", "mix test", failing, False),
        ("mixed", "mix test --trace", passing | failing, False),
        ("pass, colours", "mix test --color", passing, True),
        ("pass, piped", "mix test 2>&1 | tail -5", passing, True),
        ("mixed, piped and masked", "mix test 2>&1 | tail -4 || true", passing | failing, False),
        ("mixed, filtered", "mix test 2>&1 | grep -E '(tests|failures)'", passing | failing, False),
        ("not to be compiled", "mix test", passing | {"test/c_test.exs": "defmodule C do\n  nothing(\nend\n"}, False),
        ("no tests", "mix test", base, None),
        ("only skipped", "mix test", skipping, None),
        ("none chosen", "mix test --only nothing", passing, None),
        ("halts", "mix test", passing | {"test/e_test.exs": one.format("E", "System.halt(3)", "")}, False),
        (
            "set up in vain",
            "mix test",
            failing | {"test/b_test.exs": one.format("B", "assert 1 == 1", '  setup_all do\n    raise "x"\n  end\n')},
            False,
        ),
    ):
        yield RealRun("exunit", name, line, files, truth)


def real_runs() -> list[RealRun]:
    """All of them, whatever is installed."""
    return [
        *_pytest(),
        *_unittest(),
        *_of_node("jest", "jest", ".js", ""),
        *_of_node("vitest", "vitest run", ".mjs", "import { test, expect } from 'vitest'\n"),
        *_go(),
        *_cargo(),
        *_rspec(),
        *_exunit(),
    ]
