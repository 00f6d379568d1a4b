"""The texts of an answer: each block of a message once, in its last state."""

from __future__ import annotations


class AnswerTexts:
    """Texts in their order, each with the id that the API gave to its message; '' where there is none."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []

    def add(self, message: str, text: str) -> None:
        """Add a block's text; a longer text of a message takes the place of its own beginning."""
        places = (
            place for place, (of, said) in enumerate(self._texts) if message and of == message and text.startswith(said)
        )
        place = next(places, len(self._texts))
        self._texts[place : place + 1] = [(message, text)]

    def has(self, message: str, text: str) -> bool:
        """Whether a message said this already, or this and more."""
        return any(of == message and said.startswith(text) for of, said in self._texts)

    def response(self) -> str:
        """Return all texts as one."""
        return "\n\n".join(text for _, text in self._texts)
