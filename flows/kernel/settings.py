"""Where things are: the home folder, the lake inside or outside it, and what the environment may choose."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.home import home_from_environment

if TYPE_CHECKING:
    from slowwave.transforms.params import Params

LONGEST_ROW = 64 * 10**6
_SIZE = re.compile(r"([0-9]{1,9}) ?(kB|MB|GB|)", re.IGNORECASE)
_SECTIONS = {"engine", "imports", "landing", "notify", "publish_to", "retention"}
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9}


@dataclass(frozen=True)
class Settings:
    """Paths of one home. Nothing is made or read here."""

    home: Path

    @property
    def inbox(self) -> Path:
        """Where producers drop files."""
        return self.home / "inbox"

    @property
    def lake(self) -> str:
        """The lake: the folder or bucket that `$SLOWWAVE_LAKE` names, or `lake/` in the home."""
        return os.environ.get("SLOWWAVE_LAKE", "").strip() or str(self.home / "lake")

    @property
    def lake_folder(self) -> Path:
        """The folder of the lake, or where its bucket is mounted: what is in it is read and written by `storage_of`.

        Raises UserError for a URL that is no bucket's.
        """
        if "://" not in self.lake:
            return Path(self.lake)
        from slowwave.flows.kernel.storage.mounts import bucket_folder

        return bucket_folder(self.lake, self.home)

    @property
    def serving(self) -> Path:
        """Published databases."""
        return self.home / "serving"

    @property
    def current(self) -> Path:
        """The link to the published database."""
        return self.serving / "current.duckdb"

    @property
    def lock_file(self) -> Path:
        """Locked by the one writer: in the lake, which several homes may share."""
        return self.lake_folder / ".lock"

    @property
    def home_lock_file(self) -> Path:
        """What releases before this one lock."""
        return self.home / ".lock"

    @property
    def serve_lock_file(self) -> Path:
        """Locked by who runs the schedules."""
        return self.lake_folder / ".serve"

    @property
    def capture_lock_file(self) -> Path:
        """Locked by who takes rows in over the network."""
        return self.home / ".capture"

    @property
    def merge_lock_file(self) -> Path:
        """Locked while files that were taken in are merged, or claimed by a landing."""
        return self.home / ".merge"

    @property
    def prefect_home(self) -> Path:
        """Prefect's own folder: `$PREFECT_HOME`, or `prefect/` in the home."""
        chosen = os.environ.get("PREFECT_HOME", "").strip()
        return Path(chosen) if chosen else self.home / "prefect"

    @property
    def params_file(self) -> Path:
        """Params that differ from the defaults."""
        return self.home / "params.toml"

    @property
    def longest_row(self) -> int:
        """Bytes that one delivered row may take: `$SLOWWAVE_LONGEST_ROW`, such as 64MB.

        Raises UserError when that is no size.
        """
        chosen = os.environ.get("SLOWWAVE_LONGEST_ROW", "").strip()
        if not chosen:
            return LONGEST_ROW
        size = size_in_bytes(chosen)
        if not size:
            message = f"SLOWWAVE_LONGEST_ROW is {chosen!r}, which is no size: use one such as 64MB"
            raise UserError(message)
        return size

    @property
    def settings_file(self) -> Path:
        """What is no param of any table: whom to tell of a bad night, and what lands with fields nobody knows."""
        return self.home / "settings.toml"

    @property
    def connections_file(self) -> Path:
        """The sources that every nightly imports first."""
        return self.home / "connections.toml"

    @property
    def tokens_file(self) -> Path:
        """What tells the tokens of those who post or ask over the network."""
        return self.home / "tokens.json"

    @property
    def mappings(self) -> Path:
        """Declared mappings, `NAME.toml` each: under which names producers have the fields of the contract."""
        return self.home / "mappings"

    def read_section(self, section: str, known: set[str], *, is_alone: bool = False) -> dict[str, Any]:
        """What `settings.toml` states in a section, which may have these keys; nothing where it is not there.

        Raises UserError where the file is no TOML, or has what is not known; `is_alone`: what stands outside the
        section is not judged.
        """
        import tomllib

        path = self.settings_file
        try:
            stated = tomllib.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            message = f"{path} cannot be used: {error}"
            raise UserError(message) from error
        table = stated.get(section, {})
        if not isinstance(table, dict):
            message = f"{path} cannot be used: {section} is a section: write [{section}], and below it what it says"
            raise UserError(message)
        for unknown, where, has in (
            (set() if is_alone else stated.keys() - _SECTIONS, "", [f"[{name}]" for name in _SECTIONS]),
            (table.keys() - known, f" in [{section}]", known),
        ):
            if unknown:
                message = (
                    f"{path} cannot be used: nothing is called {min(unknown)!r}{where}: use {', '.join(sorted(has))}"
                )
                raise UserError(message)
        return table

    def params(self) -> Params:
        """The params of this home: the defaults, changed by `params.toml` where there is one.

        `$SLOWWAVE_LLM_MODEL` names the model in place of both: what is published depends on it.

        Raises WrongUsageError when the file is not TOML, states what no param is called, or a value that none may have.
        """
        # Pydantic and Polars take half a second to load, and a command that only reads needs no params.
        import tomllib

        import pydantic

        from slowwave.transforms.params import Params
        from slowwave.transforms.params_stated import known_params

        # bytes that are no text are written out: no server knows such a model, and the night goes on
        model = os.environ.get("SLOWWAVE_LLM_MODEL", "").strip().encode(errors="backslashreplace").decode()
        try:
            params = Params.model_validate(known_params(self._stated_params()))
        except pydantic.ValidationError as error:
            wrong = "; ".join(_wrong(one) for one in error.errors(include_url=False))
            todo = "correct or remove it: what is not there has its default"
            message = f"{self.params_file} cannot be used: {wrong} ({todo})"
            raise WrongUsageError(message) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            message = f"{self.params_file} cannot be used: {error}"
            raise WrongUsageError(message) from error
        return params.model_copy(update={"llm": params.llm.model_copy(update={"model": model})}) if model else params

    def params_without_effect(self) -> list[str]:
        """What `params.toml` states that changes nothing, one sentence for each place: a release before read it.

        Raises WrongUsageError as `params` does.
        """
        from slowwave.transforms.params_stated import without_effect

        chosen = self.params().chosen_methods()  # first: it says what is wrong with the file
        return without_effect(self._stated_params(), chosen)

    def _stated_params(self) -> dict[str, Any]:
        import tomllib

        return tomllib.loads(self.params_file.read_text(encoding="utf-8")) if self.params_file.exists() else {}


def _wrong(error: Mapping[str, Any]) -> str:
    """One error of pydantic's in a sentence: where, and what."""
    where = ".".join(str(part) for part in error["loc"])
    said = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    if error["type"] == "extra_forbidden":
        said = "no param of this release is called so"
    return f"{where}: {said}" if where else said


def size_in_bytes(text: str) -> int | None:
    """A size such as 64MB, in bytes; None where it is none."""
    size = _SIZE.fullmatch(text)
    return int(size[1]) * _UNITS[size[2].lower()] if size else None


def settings_from_environment() -> Settings:
    """Settings of `$SLOWWAVE_HOME`, or of `data/` in the working directory."""
    return Settings(home_from_environment())
