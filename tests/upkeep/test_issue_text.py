"""The words of the watch's issues, without any GitHub."""

from __future__ import annotations

from registry.documents.findings import Finding, Severity
from registry.upkeep import issue_text
from registry.upkeep.outcomes import Outcome


def test_each_remedy_is_told_once_and_permissions_in_a_sentence() -> None:
    def differs(name: str, fix: str) -> Finding:
        path = f"github/{name}"
        return Finding(path, None, "N040", Severity.ERROR, f"{name} is off", fix)

    def unread(why: str) -> Finding:
        remedy = "Give GH_TOKEN a token of an administrator."
        path, what = "github/settings", f"not readable: {why}"
        return Finding(path, None, "N041", Severity.WARNING, what, remedy)

    text = issue_text.body(
        Outcome.of(
            "settings",
            "failed",
            "",
            (
                differs("one", "Settings, General"),
                unread("/repos/o/r/pages: needs Pages: read; unknown: site-https, b"),
                differs("two", "Settings, Pages"),
                differs("three", "Settings, General"),
                unread("/user/7: needs Pages: read"),
                unread("/repos/o/r/keys: needs Administration: read; unknown: c"),
                unread("CODEOWNERS is no plain file"),
            ),
        ),
        None,
    )
    assert text.count("Settings, General") == 1
    first, second = text.index("Settings, General"), text.index("Settings, Pages")
    assert first < text.index("github/three") < second < text.index("github/two")
    sentence = "token lacks Pages&#58; read, Administration&#58; read, so some of it"
    assert sentence in text
    assert "site-https" not in text
    assert "is no plain file" in text
    assert " more are in" not in text
