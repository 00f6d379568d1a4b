"""The child process that is Prefect's API server. It imports nothing of ours: it has enough to load as it is."""

from __future__ import annotations

import socket
import sys
import threading

GRACE_SECONDS = 5


def main() -> None:
    """Serve Prefect's API on the open socket that the first argument numbers, until standard input ends.

    The parent holds the other end of that pipe, and the kernel closes it however the parent ends.
    """
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

    def stop_at_end_of_input() -> None:
        sys.stdin.buffer.read()
        server.should_exit = True

    threading.Thread(target=stop_at_end_of_input, daemon=True).start()
    server.run(sockets=[socket.socket(fileno=int(sys.argv[1]))])


if __name__ == "__main__":
    main()
