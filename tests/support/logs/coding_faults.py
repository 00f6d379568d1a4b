# ruff: noqa: E501 - programs are written as they are
"""Faulty programs that a coding agent meets: what to run for each error, with blanks that differ between occurrences.

`<name>`, `<word>`, `<file>` and `<n>`, `<m>` are blanks, drawn anew for each occurrence. `make_coding_errors.py` runs
them.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Fault:
    """One error: files to write, a command to run in their folder."""

    tool: str
    name: str
    files: dict[str, str]
    command: str
    # Its last line alone does not tell it from others, so it is never cut to that.
    is_whole: bool = False
    blanks: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _python() -> list[Fault]:
    raised = {
        "key": "{'a': 1}['<name>']",
        "none-attribute": "None.<name>",
        "missing-argument": "(lambda first, <name>: 0)(<n>)",
        "int-of-word": "int('<word>')",
        "no-file": "open('data/<file>.csv')",
        "no-module": "__import__('<name>_sdk')",
        "divide": "<n> / 0",
        "index": "[1, 2, 3][<n>]",
        "decode": "b'ok\\xff<word>'.decode()",
        "json-value": "__import__('json').loads('{\"<name>\": }')",
        "json-extra": "__import__('json').loads('{\"<name>\": <n>} <word>')",
        "name": "<name>_total + 1",
        "operand": "'<word>' + <n>",
        "unpack": "a, b = (<n>, <n>, <m>)",
        "refused": "__import__('urllib.request').request.urlopen('http://127.0.0.1:9/<word>')",
        "no-table": "__import__('sqlite3').connect(':memory:').execute('SELECT <n> FROM <name>')",
        "unique": (
            "c = __import__('sqlite3').connect(':memory:')\n"
            "    c.execute('CREATE TABLE <name> (id INTEGER PRIMARY KEY)')\n"
            "    [c.execute('INSERT INTO <name> VALUES (<n>)') for _ in range(2)]"
        ),
        "timeout": "__import__('subprocess').run(['sleep', '<n>'], timeout=0.0<m>)",
        "returned-1": "__import__('subprocess').run(['false', '<word>'], check=True)",
        "chained": (
            "try:\n        {}['<name>']\n    except KeyError as error:\n"
            "        raise RuntimeError('plan <n> could not be loaded') from error"
        ),
        "own": "raise ValueError('row <n> of <file>.csv has <m> columns, expected 7')",
        "bare-assert": "assert sum([<n>, <m>]) == 0",
        "polars-column": "__import__('polars').DataFrame({'a': [1], '<word>': [2]}).select('<name>')",
        "http-404": "__import__('requests').get('<server>/missing/<name>?page=<n>').raise_for_status()",
        "http-503": "__import__('requests').get('<server>/busy/<name>').raise_for_status()",
        "retries": "__import__('requests').get('http://127.0.0.1:9/<name>')",
        "pydantic": (
            "M = __import__('pydantic').create_model('Job', age=(int, ...), size=(int, ...))\n    M(age='<word>', size=<n>)"
        ),
        "openai-429": "__import__('openai').OpenAI(api_key='<word>', base_url='<server>/v1', max_retries=0).models.list()",
    }
    program = (
        "import os\nimport sys\n\n\ndef <file>_<n>(depth):\n    if depth:\n        return <file>_<n>(depth - 1)\n"
        "    {}\n\n\nprint('loading <m> rows')\n<file>_<n>(<depth>)\n"
    )
    alone = {"bare-assert"}
    faults = [
        Fault("python", name, {"<file>.py": program.replace("{}", body)}, "python <file>.py", name in alone)
        for name, body in raised.items()
    ]
    return [
        *faults,
        Fault("python", "syntax", {"<file>.py": "x = [<n>\ny = <m>\n"}, "python <file>.py"),
        Fault("python", "indent", {"<file>.py": "def <name>():\nreturn <n>\n"}, "python <file>.py"),
    ]


def _tests() -> list[Fault]:
    noise = "import logging\nimport random\n\n\ndef noise():\n    print('seed <n>', random.random())\n    logging.getLogger('<word>').warning('slow call took <m> ms')\n\n\n"
    bodies = {
        "sum": "def test_total_of_cart():\n    noise()\n    assert sum([1, <n>]) == <m>\n",
        "text": "def test_greeting_is_polite():\n    noise()\n    assert 'good day' in 'hello <word>'\n",
        "raises": "def test_parser_reads_dates():\n    noise()\n    int('<word>')\n",
        "missing-fixture": "def test_uses_database(database):\n    assert database\n",
        "import": "import <name>_client\n\n\ndef test_import():\n    pass\n",
    }
    pytest = [
        Fault(
            "pytest",
            name,
            {"tests/test_shop.py": noise + body},
            "python -m pytest -p no:cacheprovider -p no:hypothesispytest -p no:anyio -p no:xdist <quiet> tests",
        )
        for name, body in bodies.items()
    ]
    unit = "import unittest\n\n\nclass CartTest(unittest.TestCase):\n    def test_{}(self):\n        print('<word> <n>')\n        {}\n\n\nunittest.main()\n"
    return [
        *pytest,
        Fault(
            "unittest",
            "equal",
            {"cart.py": unit.format("total", "self.assertEqual(<n>, <m> + 100000)")},
            "python cart.py",
        ),
        Fault("unittest", "error", {"cart.py": unit.format("load", "open('<file>.json')")}, "python cart.py"),
        Fault(
            "node-test",
            "equal",
            {
                "a.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconsole.log('<word> <n>');\ntest('adds prices', () => { assert.strictEqual(<n>, -<m>); });\n"
            },
            "node --test --test-reporter=tap a.test.js",
        ),
        Fault(
            "node-test",
            "throws",
            {
                "b.test.js": "const test = require('node:test');\nconsole.log('<word> <n>');\ntest('reads the basket', () => { JSON.parse('<word>'); });\n"
            },
            "node --test --test-reporter=tap b.test.js",
        ),
        Fault(
            "go-test",
            "fails",
            {
                "go.mod": "module shop\n\ngo 1.19\n",
                "a_test.go": 'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tt.Logf("<word> <n>")\n\tt.Errorf("got <n>, want <m>")\n}\n',
            },
            "go test ./...",
        ),
        Fault(
            "rust-test",
            "fails",
            {
                "a.rs": 'fn main() {}\n\n#[test]\nfn totals_add_up() {\n    println!("<word>");\n    assert_eq!(<n>, <m> + 100000);\n}\n'
            },
            "rustc --test a.rs -o a.out && ./a.out",
        ),
    ]


def _node() -> list[Fault]:
    bodies = {
        "undefined-property": "undefined_ = undefined; undefined_.<name>;",
        "reference": "<name>Total + <n>;",
        "no-module": "require('./<name>');",
        "json": "JSON.parse('{\"<name>\": <word>}');",
        "no-file": "require('fs').readFileSync('data/<file>.json');",
        "not-a-function": "const <name> = <n>; <name>();",
        "assert": "require('assert').strictEqual(<n>, -<m>);",
        "argument-type": "require('fs').readFileSync(<n> + 0.5, '<word>');",
        "own": "throw new Error('job <n> of queue <word> failed after <m> attempts');",
        "stack": "const f = () => f(); f();",
        "fetch": "fetch('http://127.0.0.1:9/<word>');",
        "http-body": (
            "fetch('<server>/v1/limit/<n>').then(async r => "
            "{ throw new Error(`Request failed with status ${r.status}: ${await r.text()}`); });"
        ),
        "rejected": "Promise.reject(new TypeError('cannot send <n> items to <word>'));",
        "syntax": "const a = ;",
    }
    program = "const depth = <depth>;\nfunction <name>_<n>(d) {\n  if (d) return <name>_<n>(d - 1);\n  {}\n}\nconsole.log('starting <word>');\n<name>_<n>(depth);\n"
    return [
        Fault("node", name, {"<file>.js": program.replace("{}", body)}, "node <file>.js")
        for name, body in bodies.items()
    ]


def _java() -> list[Fault]:
    bodies = {
        "null": "String <name> = null; <name>.length();",
        "index": "int[] a = new int[3]; a[<n>] = 1;",
        "number": 'Integer.parseInt("<word>");',
        "cast": 'Object <name> = "<word>"; Integer i = (Integer) <name>;',
        "caused": 'try { Integer.parseInt("<word>"); } catch (Exception e) { throw new IllegalStateException("order <n> was not saved", e); }',
        "no-file": 'new java.io.FileReader("data/<file>.txt");',
        "arithmetic": "int zero = 0; System.out.println(<n> / zero);",
        "no-element": "new java.util.ArrayDeque<String>().pop();",
    }
    program = 'public class <Class> {\n  static void <name>(int d) throws Exception {\n    if (d > 0) { <name>(d - 1); return; }\n    {}\n  }\n  public static void main(String[] args) throws Exception {\n    System.out.println("<word> <n>");\n    <name>(<depth>);\n  }\n}\n'
    compiled = {
        "symbol": "<name>Total();",
        "types": 'int <name> = "<word>";',
        "semicolon": "int <name> = <n>",
        "unreported": 'throw new Exception("<word>");',
    }
    plain = "public class <Class> {\n  void run<n>() {\n    {}\n  }\n}\n"
    return [
        *(
            Fault(
                "java", name, {"<Class>.java": program.replace("{}", body)}, "java -XX:TieredStopAtLevel=1 <Class>.java"
            )
            for name, body in bodies.items()
        ),
        *(
            Fault("javac", name, {"<Class>.java": plain.replace("{}", body)}, "javac <Class>.java")
            for name, body in compiled.items()
        ),
    ]


def _compiled() -> list[Fault]:
    go = 'package main\n\nimport "fmt"\n\nfunc <name>(d int) {\n\tif d > 0 {\n\t\t<name>(d - 1)\n\t\treturn\n\t}\n\t{}\n}\n\nfunc main() {\n\tfmt.Println("<word> <n>")\n\t<name>(<depth>)\n}\n'
    go_bodies = {
        "index": "a := []int{1, 2}; i := <n>; fmt.Println(a[i])",
        "nil-map": 'var m map[string]int; m["<word>"] = <n>',
        "nil-pointer": "var p *struct{ X int }; fmt.Println(p.X)",
        "own-panic": 'panic(fmt.Errorf("shard <n> of <word> is gone"))',
        "divide": "z := 0; fmt.Println(<n> / z)",
        "undefined": "fmt.Println(<name>Total)",
        "unused": "<name>Count := <n>",
        "types": 'var x int = "<word>"; fmt.Println(x)',
        "deadlock": "c := make(chan int); <-c",
    }
    rust = 'fn <name>(d: usize) {\n    if d > 0 {\n        return <name>(d - 1);\n    }\n    {}\n}\n\nfn main() {\n    println!("<word> <n>");\n    <name>(<depth>);\n}\n'
    rust_panics = {
        "unwrap-none": "let x: Option<u8> = None; x.unwrap();",
        "unwrap-parse": 'let x: i32 = "<word>".parse().unwrap(); println!("{x}");',
        "index": 'let v = vec![1, 2]; let i = <n>; println!("{}", v[i]);',
        "own-panic": 'panic!("batch <n> of <word> is corrupt");',
        "no-file": 'std::fs::read("data/<file>.bin").expect("the file is there");',
        "divide": 'let z = d; println!("{}", <n> / z);',
    }
    rust_errors = {
        "unknown-name": 'println!("{}", <name>_total);',
        "types": 'let x: i32 = "<word>"; println!("{x}");',
        "moved": 'let s = String::from("<word>"); drop(s); println!("{s}");',
        "no-method": "let x = <n>u8; x.<name>_all();",
    }
    c = '#include <stdio.h>\n#include <stdlib.h>\n#include <assert.h>\nint main(void) {\n  printf("<word> <n>\\n");\n  {}\n  return 0;\n}\n'
    c_bodies = {
        "undeclared": "<name>_total = <n>;",
        "semicolon": "int <name> = <n>",
        "arguments": "abs(<n>, <m>);",
        "linker": "extern int <name>_init(void); return <name>_init();",
    }
    return [
        *(
            Fault("go", name, {"<file>.go": go.replace("{}", body)}, "go run <file>.go")
            for name, body in go_bodies.items()
        ),
        *(
            Fault(
                "rust", name, {"<file>.rs": rust.replace("{}", body)}, "rustc -A warnings <file>.rs -o a.out && ./a.out"
            )
            for name, body in rust_panics.items()
        ),
        *(
            Fault("rustc", name, {"<file>.rs": rust.replace("{}", body)}, "rustc -A warnings <file>.rs -o a.out")
            for name, body in rust_errors.items()
        ),
        *(
            Fault("gcc", name, {"<file>.c": c.replace("{}", body)}, "gcc -fdiagnostics-plain-output <file>.c -o a.out")
            for name, body in c_bodies.items()
        ),
        Fault(
            "gcc",
            "assertion",
            {"<file>.c": c.replace("{}", "assert(<n> == -1);")},
            "gcc -w <file>.c -o a.out && ./a.out",
        ),
    ]


def _checkers() -> list[Fault]:
    ruff = {
        "unused-import": "import os_<name>\n",
        "undefined": "print(<name>_total)\n",
        "unused-variable": "def f():\n    <name> = <n>\n",
    }
    types = {
        "argument": "def f(x: int) -> int:\n    return x\n\n\nf('<word>')\n",
        "attribute": "'<word>'.<name>_all()\n",
        "return": "def <name>() -> int:\n    return '<word>'\n",
    }
    typescript = {
        "assign": "const <name>: number = '<word>';\n",
        "property": "const a = { x: <n> };\na.<name>;\n",
        "unknown": "console.log(<name>Total);\n",
        "arguments": "function f(a: number) { return a; }\nf(<n>, <m>);\n",
    }
    above = "# <word>\n" * 2
    return [
        *(
            Fault(
                "ruff",
                name,
                {"src/<file>.py": above + text},
                "ruff check --no-cache --output-format <style> src",
                blanks={"style": ("concise", "full")},
            )
            for name, text in ruff.items()
        ),
        *(
            Fault("pyright", name, {"src/<file>.py": above + text}, "pyright src/<file>.py")
            for name, text in types.items()
        ),
        *(
            Fault("mypy", name, {"src/<file>.py": above + text}, "mypy --no-incremental src/<file>.py")
            for name, text in types.items()
        ),
        *(
            Fault("tsc", name, {"<file>.ts": "// <word>\n" + text}, "tsc --noEmit --pretty false <file>.ts")
            for name, text in typescript.items()
        ),
    ]


def _shell() -> list[Fault]:
    git = "git init -q . 2>/dev/null; "
    commands = {
        "bash": {
            "no-command": "<name>ctl --<word> <n>",
            "no-file": "cat data/<file>.txt",
            "no-folder": "cd src/<file>",
            "not-a-number": "[ <word> -gt <n> ]",
            "unset": "set -u; echo $<name>_HOME",
        },
        "git": {
            "no-repository": "git log --<word>-<n>",
            "pathspec": git + "git checkout <name>-<n>",
            "revision": git + "git log main..<name>",
            "ignored": git + "echo build > .gitignore; mkdir build; touch build/<file>; git add build/<file>",
            "no-remote": git + "git push <name> main",
        },
        "make": {
            "no-target": "echo 'all:' > Makefile; make <name>",
            "recipe": "printf 'all:\\n\\t@echo step <n>; ls missing-<word>\\n' > Makefile; make",
        },
        "curl": {
            "refused": "curl -sS http://127.0.0.1:9/<word>",
            "status": "curl -sSf <server>/missing/<name>",
            "body": "curl -sS --fail-with-body <server>/v1/busy/<name>",
            "no-host": "curl -sS http://<name>.invalid/<word>",
        },
        "tools": {
            "tar": "tar xf <file>.tar.gz",
            "no-python-module": "python -m <name>_cli",
            "npm-script": 'echo \'{"name": "<name>"}\' > package.json; npm run <word>:<name>',
            "sed": "echo x | sed 's/<word>'",
            "grep": "grep '[<word>' <file>.txt",
            "requirement": "pip install --no-index <name>-missing==<n>",
        },
    }
    return [Fault(tool, name, {}, command) for tool, of in commands.items() for name, command in of.items()]


def _agent_tools() -> list[Fault]:
    """Errors of an agent's own tools, as a small server of such tools answers; and of an HTTP interface."""
    calls = {
        "tool-arguments": '{"name": "read_file", "arguments": {"path": <n>}}',
        "tool-unknown": '{"name": "<name>_search", "arguments": {}}',
        "tool-no-file": '{"name": "read_file", "arguments": {"path": "src/<file>.py"}}',
        "tool-too-large": '{"name": "read_file", "arguments": {"path": "<n>.log"}}',
        "tool-no-match": '{"name": "edit_file", "arguments": {"path": "src/<file>.py", "old": "<name> = <n>"}}',
        "tool-many-matches": '{"name": "edit_file", "arguments": {"path": "src/<file>.py", "old": "x", "count": <n>}}',
        "tool-timeout": '{"name": "run", "arguments": {"seconds": <n>, "command": "<word>"}}',
    }
    return [
        *(
            Fault("agent", name, {"call.json": call}, "curl -sS -d @call.json <server>/tool")
            for name, call in calls.items()
        ),
        Fault("http", "limit", {}, "curl -sS <server>/v1/limit/<n>"),
        Fault("http", "unauthorised", {}, "curl -sS <server>/v1/key/<word>"),
        Fault("http", "overloaded", {}, "curl -sS <server>/v1/busy/<name>"),
    ]


FAULTS: tuple[Fault, ...] = (
    *_python(),
    *_tests(),
    *_node(),
    *_java(),
    *_compiled(),
    *_checkers(),
    *_shell(),
    *_agent_tools(),
)

# Which blank names the failing thing; where none does, all occurrences of a fault are one error, whatever its values.
NAMED: dict[str, str] = {
    mark: blank
    for blank, marks in {
        "name": (
            "python:key python:none-attribute python:missing-argument python:no-module python:name python:no-table "
            "python:unique python:polars-column python:http-404 python:http-503 python:retries pytest:import "
            "node:undefined-property node:reference node:no-module node:not-a-function go:undefined go:unused "
            "rustc:unknown-name rustc:no-method gcc:undeclared gcc:linker ruff:unused-import ruff:undefined "
            "ruff:unused-variable pyright:attribute mypy:attribute tsc:property tsc:unknown javac:symbol "
            "bash:no-command bash:unset git:pathspec git:revision git:no-remote make:no-target curl:no-host "
            "tools:no-python-module tools:npm-script tools:requirement agent:tool-unknown"
        ),
        "file": (
            "python:no-file python:own node:no-file java:no-file gcc:assertion bash:no-file bash:no-folder tools:tar "
            "agent:tool-no-file agent:tool-no-match agent:tool-many-matches"
        ),
        "word": "make:recipe agent:tool-timeout node:own node:rejected go:own-panic rust:own-panic",
    }.items()
    for mark in marks.split()
}
