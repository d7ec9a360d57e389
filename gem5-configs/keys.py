# SPDX-License-Identifier: BSD-3-Clause
"""A JSON object that is read key by key, each of its type; every complaint names the key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from failure import Failure


class Keys:
    """A JSON object whose keys are taken one by one; `done` complains about what nobody took."""

    def __init__(self, value: object, path: str) -> None:
        if not isinstance(value, dict):
            raise Failure(f"{path}: {_shown(value)} is not a block of keys; write the settings again")
        self._left = dict(value)
        self._path = path

    def at(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def take(self, key: str) -> Any:
        if key not in self._left:
            raise Failure(f"{self.at(key)}: missing; write the settings with the same version of the project")
        return self._left.pop(key)

    def text(self, key: str) -> str:
        value = self.take(key)
        if not isinstance(value, str) or not value:
            raise Failure(f"{self.at(key)}: {_shown(value)} is not text; give a text")
        return value

    def choice(self, key: str, known: tuple[str, ...]) -> str:
        value = self.take(key)
        if value not in known:
            raise Failure(f"{self.at(key)}: {_shown(value)} is not known; use {' or '.join(known)}")
        return str(value)

    def integer(self, key: str, low: int, high: int) -> int:
        value = self.take(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Failure(f"{self.at(key)}: {_shown(value)} is not a whole number; give a whole number")
        if not low <= value <= high:
            raise Failure(f"{self.at(key)}: {value} is out of range; give {low} to {high}")
        return value

    def seconds(self, key: str) -> float:
        value = self.take(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1e6:
            raise Failure(f"{self.at(key)}: {_shown(value)} is not a time; give seconds above 0")
        return float(value)

    def optional_seconds(self, key: str) -> float | None:
        if self._left.get(key) is None:
            self.take(key)
            return None
        return self.seconds(key)

    def path(self, key: str) -> Path:
        path = Path(self.text(key))
        if not path.is_absolute():
            raise Failure(f"{self.at(key)}: {path} is relative; give an absolute path")
        return path

    def optional_path(self, key: str) -> Path | None:
        """Absent, null and empty are all no path."""
        if self._left.get(key):
            return self.path(key)
        self._left.pop(key, None)
        return None

    def boolean(self, key: str) -> bool:
        value = self.take(key)
        if not isinstance(value, bool):
            raise Failure(f"{self.at(key)}: {_shown(value)} is not true or false; give one of the two")
        return value

    def has(self, key: str) -> bool:
        return key in self._left

    def block(self, key: str) -> Keys:
        return Keys(self.take(key), self.at(key))

    def optional_block(self, key: str) -> Keys | None:
        value = self.take(key)
        return None if value is None else Keys(value, self.at(key))

    def blocks(self, key: str, low: int, high: int) -> list[Keys]:
        value = self.take(key)
        if not isinstance(value, list) or not low <= len(value) <= high:
            raise Failure(f"{self.at(key)}: {_shown(value)} is not a list of {low} to {high}; change the list")
        return [Keys(item, f"{self.at(key)}[{number}]") for number, item in enumerate(value)]

    def done(self) -> None:
        for key in sorted(self._left):
            raise Failure(f"{self.at(key)}: unknown key; remove it or use the version of the project that knows it")


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
