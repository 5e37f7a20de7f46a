"""Bounds of trace reading in one place, so that no file costs more than it may.

Traces of many GiB are read, since only a few MiB of them are held at a time. What is
bounded here is what is held at once, and what a small file may pretend to be.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB

BLOCK_BYTES: Final = 1 * MIB
"""How much of a file is read and decoded at once."""
COMPRESSED_BLOCK_BYTES: Final = 128 * KIB
"""How much of a compressed file is read at once."""
EVENT_BYTES: Final = 16 * MIB
"""The longest event; DevTools keeps screenshots of up to a few MiB in one."""
METADATA_BYTES: Final = 16 * MIB
"""How much beside the events is kept, all other keys of the file together."""
METADATA_KEYS: Final = 1000
"""The most keys beside `traceEvents`; more of them are no trace."""
EVENT_KEYS: Final = 128
"""The most different keys that the events of a file may have."""

UNPACKED_BYTES: Final = 256 * GIB
"""The most bytes that a compressed file may unpack to."""
UNPACKED_RATIO: Final = 500
"""How many times its size a compressed file may unpack to.

Deflate reaches 1,032 with bytes that are all alike; traces reach 10 to 60.
"""
UNPACKED_FREE_BYTES: Final = 64 * MIB
"""How much may be unpacked before the ratio is looked at."""

SALVAGE_PASSES: Final = 16
"""How often a broken stretch may be scanned, on average, in search of events."""
SALVAGE_TRY_BYTES: Final = 512
"""What a failed try to read an event counts at least, in bytes scanned."""
SALVAGE_BYTES: Final = 32 * KIB
"""How much is looked at event by event at once, if an event is no longer than that."""
BACK_OFFS: Final = 4
"""At how many places a block is cut before it is looked at event by event."""
INPUTS: Final = 4096
"""The most files that are combined; identities are told apart by 12 bits."""
MERGED_INPUTS: Final = 64
"""The most files that are merged by time; a block of each is held."""
SOURCES_BYTES: Final = 32 * MIB
"""How much a combined trace keeps of what its sources tell beside their events."""
PROCESSES: Final = 100_000
"""The most processes of a combined trace."""
IDENTITIES: Final = 2_000_000
"""The most ids of arrows and asynchronous events that are texts or above 2**40."""
NAMES: Final = 200_000
"""The most metadata events (names of processes and threads) that are told apart."""
IGNORED_SPANS: Final = 1_000_000
"""The most spans whose time is taken out of a trace."""
OPEN_SLICES: Final = 1_000_000
"""The most slices that are open at once, all threads together."""
SEARCHED: Final = 64
"""How many open slices are looked through for the one that an end names."""

CORRUPT_PLACES: Final = 10
"""How many broken places are named."""
