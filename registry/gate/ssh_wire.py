"""Read and write the few SSH wire types that keys and signatures are made of.

Every reader is strict: a length that runs past the end, a byte left over, or a number
that is not in its shortest form raises `WireError`, so that one value has exactly one
encoding and a flipped byte can never be read as the same thing (RFC 4251 section 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["WireError", "WireReader", "pack_mpint", "pack_string", "pack_uint32"]


class WireError(ValueError):
    """The bytes are not the one way in which this value is written."""


@dataclass(slots=True)
class WireReader:
    """A cursor over bytes that reads SSH wire types in order.

    Attributes:
        data: all bytes.
        at: offset of the next byte to read.
    """

    data: bytes
    at: int = field(default=0)

    def take(self, count: int) -> bytes:
        """The next `count` bytes.

        Raises:
            WireError: fewer bytes are left.
        """
        end = self.at + count
        if end > len(self.data):
            message = f"{count} bytes expected, {len(self.data) - self.at} left"
            raise WireError(message)
        found = self.data[self.at : end]
        self.at = end
        return found

    def byte(self) -> int:
        """The next byte as a number."""
        return self.take(1)[0]

    def uint32(self) -> int:
        """The next four bytes as a big-endian number."""
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        """The next length-prefixed string."""
        return self.take(self.uint32())

    def text(self) -> str:
        """The next string, which must be printable ASCII."""
        found = self.string()
        if not all(0x20 < octet < 0x7F for octet in found):
            message = "a name holds bytes that are not printable ASCII"
            raise WireError(message)
        return found.decode("ascii")

    def mpint(self) -> int:
        """The next positive number, which must be in its shortest form."""
        found = self.string()
        number = int.from_bytes(found, "big")
        if pack_mpint(number) != pack_string(found) or number == 0:
            message = "a number is not positive and in its shortest form"
            raise WireError(message)
        return number

    def end(self) -> None:
        """Check that nothing is left.

        Raises:
            WireError: bytes are left over.
        """
        left = len(self.data) - self.at
        if left:
            message = f"{left} bytes left over"
            raise WireError(message)


def pack_uint32(number: int) -> bytes:
    """A number as four big-endian bytes."""
    return number.to_bytes(4, "big")


def pack_string(content: bytes) -> bytes:
    """Content behind its length."""
    return pack_uint32(len(content)) + content


def pack_mpint(number: int) -> bytes:
    """A number that is not negative, in its shortest two's-complement form."""
    if number == 0:
        return pack_string(b"")
    return pack_string(number.to_bytes(number.bit_length() // 8 + 1, "big"))
