"""Where Slowwave keeps its files, and for whom: the rules that producers' writer, flows and commands share."""

import os
import re
from pathlib import Path


def home_from_environment() -> Path:
    """Return the home folder, absolute: `$SLOWWAVE_HOME`, or `data/` under the working directory if unset or blank.

    Nothing on the disk is read or made. A relative path counts from the working directory of this very call, so a
    process that may change directory keeps the first answer.

    Raises FileNotFoundError when the path is relative and the working directory has been removed.
    """
    chosen = os.environ.get("SLOWWAVE_HOME", "")
    # absolute(), not resolve(): resolve() reads every link on the way and would hang on a disk that hangs.
    return Path(chosen if chosen.strip() else "data").absolute()


_OWNERS_ALONE = 0o077


def umask_from_environment() -> int:
    """Return what others may not do with what is made in a home: `$SLOWWAVE_UMASK` (octal), or anything if unset.

    Raises ValueError, in one sentence, when it is no umask or would keep the owner out.
    """
    chosen = os.environ.get("SLOWWAVE_UMASK", "").strip()
    if not chosen:
        return _OWNERS_ALONE
    if not re.fullmatch("0*[0-7]{1,2}", chosen):
        message = f"SLOWWAVE_UMASK is {chosen!r}: use what others may not do, such as 077 (all) or 027 (group may read)"
        raise ValueError(message)
    return int(chosen, 8)
