"""What a bucket cannot do, in a sentence that says what to do about it."""

from __future__ import annotations

import errno
import re


class BucketError(OSError):
    """What a bucket refused, or did not answer; the message says what to do. Nothing half-written is seen."""


class FencedError(BucketError):
    """Another writer has taken over: what this one would still write, or remove, is not its own any more."""


# By what servers and the library say, the first that fits: a pattern, and what it means for {url}.
_MEANINGS = {
    "NoSuchBucket|ContainerNotFound": (
        "there is no bucket for {url}: make it, or correct the address (a lake has it from SLOWWAVE_LAKE)"
    ),
    "ExpiredToken|TokenExpired|TokenRefreshRequired|RequestExpired": (
        "the credentials for {url} have expired: renew them (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
        "AWS_SESSION_TOKEN) and run this again"
    ),
    "InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|AuthenticationFailed|401 Unauthorized|InvalidClient": (
        "the credentials for {url} are not accepted: correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    ),
    "AccessDenied|403 Forbidden|AuthorizationPermissionMismatch": (
        "the credentials for {url} do not allow {doing}: give them that right, or use others"
    ),
    "SlowDown|503 Service|429 Too Many|TooManyRequests|ServerBusy|Throttl": (
        "{url} asks to be asked less (503), and did so for as long as it was tried: run this again later"
    ),
    "InstanceCredential|credential|169.254": (
        "there are no credentials for {url}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    ),
    "dns error|Connect|connect|refused|timed out|timeout|error sending request|closed before|reset": (
        "{url} does not answer: see whether {endpoint} can be reached from here (AWS_ENDPOINT_URL), then run this again"
    ),
    "500 Internal|502 Bad|504 Gateway|InternalError": (
        "the server of {url} failed (an error of its own): run this again later"
    ),
}
_FULL = (
    "the disk of this machine is full: what is read of {url} is copied into the home first, and nothing of "
    "what did not fit is left: free some and run this again"
)
_STATES = re.compile(r"<Message>([^<]*)</Message>")


def is_disk_full(error: Exception) -> bool:
    """Whether it was this machine's disk that had no room."""
    return isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}


def make_bucket_error(error: Exception, url: str, doing: str, endpoint: str) -> BucketError:
    """What an error of the library means for what lies at a URL: `doing` names what was tried, such as "writing"."""
    if is_disk_full(error):
        return BucketError(_FULL.format(url=url))
    said = str(error)
    for pattern, meaning in _MEANINGS.items():
        if re.search(pattern, said):
            return BucketError(meaning.format(url=url, doing=doing, endpoint=endpoint))
    stated = _STATES.search(said)
    why = stated[1] if stated else said.splitlines()[0] if said else type(error).__name__
    return BucketError(f"{doing} in {url} failed: {why}")
