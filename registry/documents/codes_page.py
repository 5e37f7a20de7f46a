"""The catalogue of finding codes as a page for people."""

from __future__ import annotations

from registry.documents.findings import CODES

__all__ = ["codes_page"]

_SUBJECTS = {
    "T": "Tree and scope",
    "J": "JSON",
    "Y": "YAML",
    "C": "CSV tables",
    "M": "Manifest",
    "H": "Hardware spec",
    "K": "Trust files and keys",
    "S": "Signature and identity",
    "X": "Spec against data",
    "P": "Privacy",
    "D": "Duplicates",
    "E": "Expectations",
    "G": "Models",
    "R": "Release and client",
    "L": "Local kit",
    "N": "GitHub",
    "V": "Traces",
    "Q": "Load",
    "B": "Experiments",
    "W": "Workloads",
    "F": "Programs and services",
    "O": "Monitoring",
    "A": "Assets and published results",
    "Z": "Settings",
    "U": "Usage",
    "I": "Internal",
}


def codes_page() -> str:
    """Return every declared code as a Markdown document.

    Codes are declared beside their checks, so whoever wants the whole catalogue
    imports every module first.
    """
    lines = ["# Findings", "", "Generated from the code; a code never changes meaning."]
    letters = dict.fromkeys((*_SUBJECTS, *(name[0] for name in CODES)))
    for letter in letters:
        codes = sorted(
            (code for code in CODES.values() if code.id.startswith(letter)),
            key=lambda code: code.id,
        )
        if codes:
            lines += ["", f"## {_SUBJECTS.get(letter, letter)}", ""]
            lines += ["| code | severity | what | remedy | threats |"]
            lines += ["|---|---|---|---|---|"]
        for code in codes:
            cells = (
                f"`{code.id}`",
                code.severity.value,
                code.title,
                code.fix,
                ", ".join(code.threats),
            )
            escaped = (cell.replace("|", "\\|") for cell in cells)
            lines.append("| " + " | ".join(escaped) + " |")
    return "\n".join(lines) + "\n"
