"""The wanted settings as a page for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.upkeep.wanted import wishes

if TYPE_CHECKING:
    from registry.upkeep.wanted import Setting

__all__ = ["settings_page"]

_HEAD: Final = """# Settings on GitHub

Generated from `registry/upkeep/settings.yaml` and `api.yaml` beside it.
`registry github audit-settings` reads them all and says what differs. Run it with the
token of an administrator; what a token may not read is said as such and never counted
as fine.
Paths begin with `/repos/OWNER/NAME`.
"""
_WAYS: Final = """## How to set them

For [`gh`](https://cli.github.com) in a checkout of the repository. A ruleset that
exists is changed on its page, or by `-X PUT …/rulesets/ID`; a site that exists by
`-X PUT …/pages`. Several maintainers are given to the environment `release` by
repeating both `reviewers` fields; `ID` is the number of an account
(`gh api users/LOGIN --jq .id`) or, with type `Team`, of a team.

"""


def settings_page() -> str:
    """Return the wanted settings as a Markdown document."""
    lines = [_HEAD]
    areas = dict.fromkeys(setting.area for setting in wishes().settings)
    for area in areas:
        lines += [f"## {area}", "", "| setting | read at | wanted | why |"]
        lines.append("|---|---|---|---|")
        lines += [_row(one) for one in wishes().settings if one.area == area]
        lines.append("")
    lines.append(_WAYS)
    for way in wishes().ways.values():
        lines += [f"- {way.page}", "", "  ```console", f"  $ {way.command}", "  ```"]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(setting: Setting) -> str:
    path = setting.reading.path.removeprefix("/repos/{name}") or "/"
    read = f"`{path}`<br>" + "<br>or ".join(f"`{one.at}`" for one in setting.wants)
    words = "<br>or ".join(one.words for one in setting.wants)
    cells = (f"`{setting.id}`", read, words, setting.why)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
