"""Where Slowwave keeps its files: the one rule that the producers' writer, the flows and the commands share."""

import os
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
