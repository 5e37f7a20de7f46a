"""Every setting means something: a command reads it."""

from __future__ import annotations

from pathlib import Path

import tools
from tools.settings.keys import KEYS


def test_no_setting_is_without_a_reader() -> None:
    root = Path(tools.__file__).parent
    readers = [
        path.read_text("utf-8")
        for path in root.rglob("*.py")
        if path.parent.name != "settings"
    ]
    assert len(readers) > 100
    unread = [key for key in KEYS if not any(f'"{key}"' in text for text in readers)]
    assert unread == []
