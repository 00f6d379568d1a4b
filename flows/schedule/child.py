"""The child process that is Prefect's API server. It imports nothing of ours: it has enough to load as it is."""

from __future__ import annotations

import os
import socket
import sys
import threading

GRACE_SECONDS = 1


def main() -> None:
    """Serve Prefect's API on the open socket that the first argument numbers, until standard input ends.

    The parent holds the other end of that pipe, and the kernel closes it however the parent ends. A server that still
    starts, which takes half a minute on a busy machine, has nothing to bring to an end.
    """
    server: uvicorn.Server | None = None

    def stop_at_end_of_input() -> None:
        sys.stdin.buffer.read()
        if server is None or not server.started:
            os._exit(0)
        server.should_exit = True

    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    import uvicorn

    server = uvicorn.Server(
        uvicorn.Config(
            "prefect.server.api.server:create_app",
            factory=True,
            lifespan="on",
            log_level="error",
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    server.run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
    # all is written, and the parent waits: Python would take seconds to take down what Prefect has loaded
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
