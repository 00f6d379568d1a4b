# ruff: noqa: E501, RUF001, S108 - messages are written as tools write them
"""Error messages as tools write them, made up: by format, each marked with the failing thing and its family.

A message of a family has a blank for what it names (`<thing>`) and blanks for what differs between two occurrences:
`<n>`, `<m>` numbers, `<ms>` a duration, `<hex>`, `<uuid>`, `<tmp>` a temporary path, `<at>` a time, `<ip>` an address.
`HELD_OUT` are formats that no rule of `error/3` was made or mended on: they were scored when all was done.
"""

from __future__ import annotations

import random
import re

import polars as pl

_TESTS = ("cart adds up", "cart is emptied", "user signs in", "order is paid", "stock runs out")
_WORDS = ("total_of_cart", "empty_cart", "sign_in", "paid_order", "stock_runs_out")
_MODULES = ("requests", "numpy", "shop.cart", "yaml", "orders_api")
_FILES = ("src/cart.py", "src/user.py", "lib/orders/main.py", "config/app.yaml", "data/stock.csv")
_TABLES = ("users", "orders", "stock_items", "carts", "payments")
_HOSTS = ("db.shop.internal", "cache.shop.internal", "api.example.org", "mirror.example.net", "queue.lan")
_JAVA = ("org.shop.Cart", "org.shop.User", "org.shop.orders.Order", "org.shop.Stock", "org.shop.Pay")

# format: its families: a message, and the things it may name.
FORMATS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "TAP": [
        (
            "not ok <n> - <thing> # time=<ms>ms\n  ---\n  duration_ms: <ms>\n  severity: fail\n  exitcode: <n>\n  stack: |-\n    at <tmp>/a.js:<n>:<m>\n  ...",
            ("parallel/test-cart-add", "parallel/test-http2-user", "sequential/test-order", "es-module/test-loader.mjs", "pummel/test-stock-2"),
        ),
    ],
    "TAP subtests": [
        ("TAP version 13\n# Subtest: <thing>\n    ok 1 - opens\n    not ok <n> - is planned # TODO later\nnot ok <n> - <thing>\n  ---\n  duration_ms: <ms>\n  failureType: 'testCodeFailure'\n  error: 'got <n>, expected <m>'\n  ...\n1..<n>\n# fail <n>", _TESTS),
    ],
    "pytest": [
        ("seed <n>\n    def test_x():\n>       assert f(<n>) == <m>\nE       assert <n> == <m>\n\ntests/shop.py:<n>: AssertionError\n=== short test summary info ===\nFAILED tests/test_shop.py::test_<thing> - assert <n> == <m>\n=== 1 failed, <n> passed in <ms>s ===", _WORDS),
        ("ERROR tests/test_<thing>.py - ImportError: boom\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in <ms>s ===", _WORDS),
    ],
    "jest": [
        ("FAIL src/shop.test.ts (<n>.<m> s)\n  ● Shop › <thing>\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: <n>\n    Received: <m>\n\n      at Object.<anonymous> (src/shop.test.ts:<n>:<m>)\n\nTests:       1 failed, <n> passed\nTime: <ms> s", _TESTS),
        ("FAIL <thing>\n  Test suite failed to run\n", ("src/cart.test.ts", "src/user.test.ts", "src/a/order.test.js")),
    ],
    "vitest": [
        (" FAIL  src/shop.test.ts > Shop > <thing>\nAssertionError: expected <n> to be <m> // Object.is equality\n ❯ src/shop.test.ts:<n>:<m>\n\n Test Files  1 failed (<n>)\n   Duration  <ms>ms", _TESTS),
    ],
    "go test": [
        ("=== RUN   Test<thing>\n    shop_test.go:<n>: got <n>, want <m>\n--- FAIL: Test<thing> (<n>.<m>s)\nFAIL\nexit status 1\nFAIL\tshop\t0.<n>s", ("CartTotal", "UserSignsIn", "OrderPaid", "Stock")),
    ],
    "go subtests": [
        ("--- FAIL: TestShop (0.<n>s)\n    --- FAIL: TestShop/<thing> (0.<m>s)\n        shop_test.go:<n>: got <n>, want <m>\nFAIL", _WORDS),
    ],
    "cargo test": [
        ("running <n> tests\ntest shop::tests::<thing> ... FAILED\n\nfailures:\n\n---- shop::tests::<thing> stdout ----\nthread 'shop::tests::<thing>' panicked at src/lib.rs:<n>:<m>:\nassertion `left == right` failed\n  left: <n>\n right: <m>\n\ntest result: FAILED. <n> passed; 1 failed; finished in 0.<n>s", _WORDS),
    ],
    "Gradle": [
        ("> Task :shop:test FAILED\n\nCartTest > <thing>() FAILED\n    org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n        at CartTest.java:<n>\n\n<n> tests completed, 1 failed", ("addsUp", "isEmptied", "signsIn", "isPaid")),
    ],
    "Maven": [
        ("[INFO] Running shop.CartTest\n[ERROR] Tests run: <n>, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.<n> s <<< FAILURE!\n[ERROR] shop.CartTest.<thing>  Time elapsed: 0.<n> s  <<< FAILURE!\norg.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n\tat shop.CartTest.run(CartTest.java:<n>)", ("addsUp", "isEmptied", "signsIn", "isPaid")),
    ],
    "unittest": [
        ("F.\n======================================================================\nFAIL: test_<thing> (shop.CartTest.test_<thing>)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"<tmp>/shop.py\", line <n>, in test\nAssertionError: <n> != <m>\n\nRan <n> tests in 0.<n>s\n\nFAILED (failures=1)", _WORDS),
    ],
    "mocha": [
        ("  Shop\n    1) <thing>\n\n  <n> passing (<ms>ms)\n  1 failing\n\n  1) Shop\n       <thing>:\n     AssertionError: expected <n> to equal <m>\n      at Context.<anonymous> (test/shop.js:<n>:<m>)", _TESTS),
    ],
    "mocha, one test": [
        ("  <n>) Shop <thing>:\n     AssertionError: expected <n> to equal <m>\n      at Context.<anonymous> (test/shop.js:<n>:<m>)", _TESTS),
    ],
    "rspec": [
        ("Failures:\n\n  1) Shop <thing>\n     Failure/Error: expect(total).to eq(<n>)\n\n       expected: <n>\n            got: <m>\n     # ./spec/shop_spec.rb:<n>:in `block'\n\nFinished in 0.<n> seconds\n<n> examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/shop_spec.rb:<n> # Shop <thing>", _TESTS),
    ],
    "Python": [
        ("Traceback (most recent call last):\n  File \"/srv/app/main.py\", line <n>, in run\n    load(<n>)\nModuleNotFoundError: No module named '<thing>'", _MODULES),
        ("Traceback (most recent call last):\n  File \"/srv/app/main.py\", line <n>, in run\n    open(x)\nFileNotFoundError: [Errno 2] No such file or directory: '<thing>'", _FILES),
        ("AttributeError: 'Cart' object has no attribute '<thing>' (object at 0x<hex>)", _TABLES),
    ],
    "Java": [
        ("Exception in thread \"worker-<n>\" java.lang.ClassNotFoundException: <thing>\n\tat java.net.URLClassLoader.findClass(URLClassLoader.java:<n>)\n\t... <m> more", _JAVA),
        ("<at> ERROR java.lang.NoSuchMethodError: <thing>.total(I)V\n\tat org.shop.Main.main(Main.java:<n>)", _JAVA),
    ],
    "Node.js": [
        ("node:internal/modules/cjs/loader:<n>\n  throw err;\n  ^\n\nError: Cannot find module '<thing>'\nRequire stack:\n- <tmp>/index.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:<n>:<m>) {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.<n>.<m>", ("express", "./lib/cart", "@shop/orders", "pino")),
        ("TypeError: Cannot read properties of undefined (reading '<thing>')\n    at run (<tmp>/a.js:<n>:<m>)", _TABLES),
    ],
    "Go panic": [
        ("panic: open <thing>: no such file or directory\n\ngoroutine <n> [running]:\nmain.main()\n\t/srv/app/main.go:<n> +0x<hex>\nexit status 2", _FILES),
    ],
    "C compiler": [
        ("make[<n>]: Entering directory '/srv/app'\nmain.c:<n>:<m>: error: '<thing>' undeclared (first use in this function)\n  <n> |   x = 1;\n      |   ^", _TABLES),
        ("/usr/bin/ld: <tmp>.o: in function `main':\nmain.c:(.text+0x<hex>): undefined reference to `<thing>'\ncollect2: error: ld returned 1 exit status", _TABLES),
    ],
    "Rust compiler": [
        ("error[E0425]: cannot find function `<thing>` in this scope\n  --> src/main.rs:<n>:<m>\n   |\n<n> |     x();\n   |     ^ not found in this scope\n\nerror: could not compile `shop` due to 1 previous error", _WORDS),
        ("error[E0432]: unresolved import `<thing>`\n --> src/lib.rs:<n>:<m>", ("serde_yaml", "tokio::fs", "crate::cart")),
    ],
    "TypeScript": [
        ("src/cart.ts(<n>,<m>): error TS2304: Cannot find name '<thing>'.", _TABLES),
        ("src/cart.ts:<n>:<m> - error TS2307: Cannot find module '<thing>' or its corresponding type declarations.", ("express", "./cart", "@shop/orders")),
    ],
    "make": [
        ("make[<n>]: *** No rule to make target '<thing>', needed by 'all'.  Stop.", ("cart.o", "docs", "install-local", "libshop.a")),
        ("make: *** [Makefile:<n>: <thing>] Error 2", ("build", "test", "docs", "lint-all")),
    ],
    "HTTP": [
        ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='<thing>', port=<n>): Max retries exceeded with url: /v1 (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x<hex>>: Failed to establish a new connection: [Errno 111] Connection refused'))", _HOSTS),
        ("<at> GET https://<thing>/v1/items?id=<n> failed with status 503 after <ms>ms (request <uuid>)", _HOSTS),
        ("curl: (6) Could not resolve host: <thing>", _HOSTS),
    ],
    "SQL": [
        ("psycopg.errors.UndefinedTable: relation \"<thing>\" does not exist\nLINE 1: SELECT * FROM x WHERE id = <n>\n                      ^", _TABLES),
        ("sqlite3.OperationalError: no such column: <thing>", _TABLES),
        ("ERROR 1146 (42S02) at line <n>: Table 'shop.<thing>' doesn't exist", _TABLES),
        ("duplicate key value violates unique constraint \"<thing>_pkey\"\nDETAIL:  Key (id)=(<n>) already exists.", _TABLES),
    ],
    "agent tools": [
        ("<tool_use_error>File does not exist: <thing></tool_use_error>", _FILES),
        ("Error: No such tool available: <thing> (call <uuid>)", ("read_page", "search_code", "run_query")),
        ("Exit code 127\n/bin/bash: line <n>: <thing>: command not found", ("jq", "docker", "pnpm", "terraform")),
    ],
    "CI steps": [
        ("<at> ##[error]Step '<thing>' failed with exit code 2 after <ms>ms on runner-<n>", ("Install dependencies", "Build image", "Run unit tests", "Publish package")),
        ("ERROR: Job failed: failed to pull image \"<thing>\": manifest unknown (<ms>ms)", ("shop/base", "shop/runner", "tools/lint")),
    ],
}  # fmt: skip
HELD_OUT = frozenset(
    {
        *("TAP subtests", "vitest", "cargo test", "Maven", "rspec", "Java", "Go panic", "Rust compiler", "make", "SQL"),
        *("CI steps", "Node.js"),
    }
)
_OCCURRENCES = 5


def format_errors(seed: int = 5) -> pl.DataFrame:
    """Messages by format: project (the format), error_message, error (the failing thing), family, is_held_out."""
    rng = random.Random(seed)
    rows = [
        (format_, _filled(text, thing, rng), f"{format_} {number} {thing}", f"{format_} {number}", format_ in HELD_OUT)
        for format_, families in FORMATS.items()
        for number, (text, things) in enumerate(families)
        for thing in things
        for _ in range(_OCCURRENCES)
    ]
    names = ["project", "error_message", "error", "family", "is_held_out"]
    return pl.DataFrame(rows, schema=names, orient="row").sample(fraction=1, shuffle=True, seed=seed)


def _filled(text: str, thing: str, rng: random.Random) -> str:
    drawn = {
        "thing": lambda: thing,
        "n": lambda: str(rng.randint(3, 999)),
        "m": lambda: str(rng.randint(3, 999)),
        "ms": lambda: f"{rng.randint(1, 9999)}.{rng.randint(100, 999)}",
        "hex": lambda: f"7f{rng.getrandbits(40):010x}",
        "uuid": lambda: f"{rng.getrandbits(32):08x}-{rng.getrandbits(16):04x}-4a11-b0c2-{rng.getrandbits(48):012x}",
        "tmp": lambda: f"/tmp/run-{rng.getrandbits(24):06x}",
        "at": lambda: (
            f"2026-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T0{rng.randint(0, 9)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}Z"
        ),
        "ip": lambda: f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(1, 255)}",
    }
    return re.sub(r"<(\w+)>", lambda blank: drawn[blank[1]]() if blank[1] in drawn else blank[0], text)
