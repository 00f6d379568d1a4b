"""Which project a working directory, or what else a producer has instead, belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slowwave.transforms.imports.secrets import without_home


def last_folder(directory: str) -> str:
    """The name of the folder itself; '' for a home folder and for a root, which are no project."""
    name = _normal(directory).rpartition("/")[2]
    return "" if name == "~" or name.endswith(":") else name


def projects_by(stated: Mapping[str, str]) -> Callable[[str], str]:
    """A function from directories to projects: that of the longest path stated which holds it, else `last_folder`.

    `stated` has paths of folders (`~` is the home of whoever wrote the log) or other names of the producer's.
    """
    of_path = {_normal(path): project for path, project in stated.items()}

    def project_of(directory: str) -> str:
        path = _normal(directory)
        while path:
            if path in of_path:
                return of_path[path]
            path = path.rpartition("/")[0]
        return last_folder(directory)

    return project_of


def _normal(path: str) -> str:
    return without_home(path.removeprefix("file://")).replace("\\", "/").rstrip("/")
