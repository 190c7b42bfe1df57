"""Frames and bodies as bytes: what the contrary broker reads and writes.

It knows no command's meaning and decides nothing: faults are told, not answered. Text that is no UTF-8 survives reading and writing
unchanged (`surrogateescape`). Areas: FRAME, BODY.
"""
from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import List, Optional, Tuple, Union

CONNECT, CONNECT_ACK, DISCONNECT, PING, PONG = 0, 1, 2, 10, 11
PUBLISH, PUBLISH_ACK, SUBSCRIBE, SUBSCRIBE_ACK, UNSUBSCRIBE, UNSUBSCRIBE_ACK = 20, 21, 22, 23, 24, 25
DELIVER, ACK, CREATE_QUEUE, DELETE_QUEUE, QUEUE_INFO, LIST_QUEUES, ERROR = 26, 30, 40, 41, 42, 43, 99


class BrokenBody(Exception):
    """The body ends before its last field does."""


@dataclass
class Frame:
    """One command or answer. Of headers with the same name the last one counts."""
    command: int
    id: str
    queue: str = ''
    payload: bytes = b''
    headers: List[Tuple[str, str]] = field(default_factory=list)
    version: int = 1
    trail: bytes = b''
    error: Tuple[str, ...] = ()

    def header(self, name: str) -> Optional[str]:
        return dict(self.headers).get(name)


class _Reader:
    def __init__(self, body: bytes) -> None:
        self.body, self.at = body, 0

    def take(self, count: int) -> bytes:
        piece = self.body[self.at:self.at + count]
        if len(piece) < count:
            raise BrokenBody
        self.at += count
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), 'big')

    def text(self) -> str:
        return self.take(self.number(2)).decode('utf-8', 'surrogateescape')


def decoded(body: bytes) -> Frame:
    """Reads a body that a client sent. Raises BrokenBody."""
    reader = _Reader(body)
    version, command = reader.number(1), reader.number(1)
    frame = Frame(command, reader.text(), reader.text(), reader.take(reader.number(4)), version=version)
    frame.headers = [(reader.text(), reader.text()) for _ in range(reader.number(2))]
    frame.trail = body[reader.at:]
    return frame


def encoded(frame: Frame) -> bytes:
    """The whole frame, uncompressed."""
    body = bytes((frame.version, frame.command)) + _text(frame.id) + _text(frame.queue)
    body += struct.pack('>I', len(frame.payload)) + frame.payload + struct.pack('>H', len(frame.headers))
    body += b''.join(_text(part) for pair in frame.headers for part in pair)
    body += b''.join(map(_text, frame.error)) + frame.trail
    return struct.pack('>IB', len(body), 0) + body


def _text(text: str) -> bytes:
    data = text.encode('utf-8', 'surrogateescape')
    return struct.pack('>H', len(data)) + data


def is_text(text: str) -> bool:
    """Whether it came as valid UTF-8."""
    return not any('\ud800' <= character <= '\udfff' for character in text)


@dataclass(frozen=True)
class Fault:
    """A frame that breaks the framing: by its length, or else by its flags."""
    is_size: bool


class Splitter:
    """Cuts a stream into bodies. Of a faulty frame it tells when its body has been skipped; what follows is read as ever."""

    def __init__(self, max_body_bytes: int) -> None:
        self._max_body_bytes = max_body_bytes
        self._stream, self._skip_bytes = bytearray(), 0
        self._skipped: Optional[Fault] = None

    def feed(self, data: bytes) -> None:
        self._stream += data

    def next(self) -> Union[bytes, Fault, None]:
        """The next body or Fault; None when more bytes are needed."""
        if self._skipped is None:
            if len(self._stream) < 5:
                return None
            length, flags = struct.unpack_from('>IB', self._stream)
            if flags == 0 and 2 <= length <= self._max_body_bytes:
                return self._cut(5 + length)[5:] if len(self._stream) >= 5 + length else None
            # No compression is ever agreed, so a compressed body is as faulty as one with unknown flags.
            self._skipped, self._skip_bytes = Fault(is_size=flags == 0), 5 + length
        self._skip_bytes -= len(self._cut(self._skip_bytes))
        if self._skip_bytes > 0:
            return None
        fault, self._skipped = self._skipped, None
        return fault

    def _cut(self, count: int) -> bytes:
        piece = bytes(self._stream[:count])
        del self._stream[:count]
        return piece
