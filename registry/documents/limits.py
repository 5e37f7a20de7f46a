"""Every bound in one place, so that no input costs more time or memory than it may."""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

FILE_BYTES: Final = 50 * MIB
"""The largest file of a bundle."""
BUNDLE_BYTES: Final = 100 * MIB
"""The largest bundle, all files together."""
BUNDLE_FILES: Final = 32
"""The most files in a bundle, manifest and signature included."""

ROWS: Final = 2_000_000
"""The most rows of a table."""
COLUMNS: Final = 256
"""The most columns of a table."""
CELLS: Final = 20_000_000
"""The most cells of a table, empty ones included: one of nothing but commas is small to
send and large to read."""
LINE_BYTES: Final = 64 * KIB
"""The longest line of a table."""
SHOWN_PER_COLUMN: Final = 5
"""How many bad cells of a column are named one by one."""

SHOWN_PER_DOCUMENT: Final = 100
"""How many problems of a manifest, spec or trust file are named one by one."""

YAML_BYTES: Final = 64 * KIB
YAML_DEPTH: Final = 16
YAML_NODES: Final = 10_000
JSON_BYTES: Final = 1 * MIB
JSON_DEPTH: Final = 16
MANIFEST_BYTES: Final = 128 * KIB
"""The largest manifest; one of 256 columns a table has 55 KiB."""
NUMBER_CHARACTERS: Final = 64
"""The longest number of a JSON document."""
INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly."""

SIGNATURE_BYTES: Final = 16 * KIB
"""The largest signature file."""
KEY_LINE_CHARACTERS: Final = 4096
"""The longest public key line (an RSA key of 16,384 bits needs 2,800)."""
KEYS: Final = 16
"""The most keys of one contributor, revoked ones included."""
MAINTAINERS: Final = 64
"""The most maintainers of a registry."""

PATH_DEPTH: Final = 4
"""The most segments of a path."""
NAME_CHARACTERS: Final = 64
"""The longest name of a file, folder, dataset or machine."""
MESSAGE_CHARACTERS: Final = 300
"""The longest text of a finding."""
GIT_BYTES: Final = 64 * MIB
"""The longest answer of git: some 500,000 paths, where a registry has five a bundle."""
GIT_SECONDS: Final = 60.0
"""How long git may think: nested trees that name each other list for ever."""
CHANGED_DATASETS: Final = 8
"""How many datasets of a change are looked at; more than one is refused anyway."""
SKETCH: Final = 64
"""How many row digests of a table its manifest lists."""
