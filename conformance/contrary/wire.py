"""Frames as bytes, and queue options as JSON.

This module decides nothing: it reports faults and does not answer them; it reports invalid options and corrects them. Text that is not
UTF-8 keeps its bytes when it is read and written (`surrogateescape`). Areas: FRAME, BODY, QUEUE (options).
"""
from __future__ import annotations

import io
import json
import re
import struct
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Iterator

CONNECT, CONNECT_ACK, DISCONNECT, PING, PONG = 0, 1, 2, 10, 11
PUBLISH, PUBLISH_ACK, SUBSCRIBE, SUBSCRIBE_ACK, UNSUBSCRIBE, UNSUBSCRIBE_ACK = 20, 21, 22, 23, 24, 25
DELIVER, ACK, CREATE_QUEUE, DELETE_QUEUE, QUEUE_INFO, LIST_QUEUES, ERROR = 26, 30, 40, 41, 42, 43, 99
ADMIN = {50: 'CreateUser', 51: 'DeleteUser', 52: 'ChangePassword', 53: 'GrantPermission', 54: 'RevokePermission', 55: 'ListUsers',
         56: 'GetUserPermissions'}
HEADER_BYTES = 5  # of a frame: its length and flags
MODES = ('RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased')
STRATEGIES = ('DropOldest', 'DropNewest', 'BlockPublisher', 'RedirectToDlq')
PRIORITIES = ('low', 'normal', 'high', 'critical')

DEFAULTS = {'mode': 'RoundRobin', 'maxQueueSize': 10_000, 'messageTtl': None, 'enableDeadLetterQueue': False,
            'deadLetterQueueName': None, 'overflowStrategy': 'DropOldest', 'maxRetryAttempts': 3}
_TYPES = {'mode': (int, str), 'maxQueueSize': (int, float), 'messageTtl': (str,), 'enableDeadLetterQueue': (bool,),
          'deadLetterQueueName': (str,), 'overflowStrategy': (int, str), 'maxRetryAttempts': (int, float)}
UNREADABLE = (ValueError, OverflowError, RecursionError)


@dataclass
class Frame:
    """One command or answer. If two headers have the same name, the last one counts. `fault`: why the frame is invalid, and the error code."""
    command: int
    id: str
    queue: str = ''
    payload: bytes = b''
    headers: dict[str, str] = field(default_factory=dict)
    header_count: int = 0
    version: int = 1
    trailing: bytes = b''
    error: tuple[str, ...] = ()
    fault: tuple[str, ...] = ()

    def is_text(self) -> bool:
        """Whether all texts except the values of headers are valid UTF-8."""
        return is_text(self.id, self.queue, *self.headers)


def is_text(*texts: str) -> bool:
    """Whether the texts were valid UTF-8: bytes that were not are surrogates."""
    return not any('\ud800' <= character <= '\udfff' for character in ''.join(texts))


def decoded(body: bytes) -> Frame:
    """Decodes a body. Raises EOFError if the body ends before its last field."""
    rest = io.BytesIO(body)

    def take(count: int) -> bytes:
        piece = rest.read(count)
        if len(piece) < count:
            raise EOFError
        return piece

    def number(size: int) -> int:
        return int.from_bytes(take(size), 'big')

    def text() -> str:
        return take(number(2)).decode('utf-8', 'surrogateescape')

    version, command = take(2)
    frame = Frame(command, text(), text(), take(number(4)), version=version, header_count=number(2))
    frame.headers = dict((text(), text()) for _ in range(frame.header_count))
    frame.trailing = rest.read()
    return frame


def encoded(frame: Frame) -> bytes:
    """The whole frame, uncompressed."""
    body = bytes((frame.version, frame.command)) + _text(frame.id) + _text(frame.queue)
    body += struct.pack('>I', len(frame.payload)) + frame.payload + struct.pack('>H', len(frame.headers))
    body += b''.join(_text(part) for pair in (*frame.headers.items(), frame.error) for part in pair) + frame.trailing
    return struct.pack('>IB', len(body), 0) + body


def _text(text: str) -> bytes:
    data = text.encode('utf-8', 'surrogateescape')
    return struct.pack('>H', len(data)) + data


def split(stream: bytearray, max_body_bytes: int) -> Iterator[Frame | None]:
    """Splits a growing stream into frames; yields None when it needs more bytes. Skips the body of a frame that breaks the framing rules, then
    yields the fault, and continues with the next frame."""
    while True:
        while len(stream) < HEADER_BYTES:
            yield None
        length, flags = struct.unpack_from('>IB', stream)
        del stream[:HEADER_BYTES]
        # This broker does not negotiate compression, so a compressed body is as invalid as one with unknown flags.
        is_valid = flags == 0 and 2 <= length <= max_body_bytes
        while len(stream) < length:
            if not is_valid:
                length -= len(stream)
                stream.clear()
            yield None
        body = bytes(stream[:length])
        del stream[:length]
        try:
            yield decoded(body) if is_valid else Frame(0, '', fault=('framing fault', 'INVALID_MESSAGE' if flags else 'MESSAGE_TOO_LARGE'))
        except EOFError:
            yield Frame(0, '', fault=('invalid body', 'INVALID_MESSAGE'))


def read_options(payload: bytes, queue: str) -> tuple[dict[str, Any], bool, bool]:
    """Returns the options by their names on the wire (the TTL in seconds), whether an invalid one was corrected, and whether one is unknown.
    Raises UNREADABLE if the payload is not a JSON object or a value has the wrong type."""
    given = json.loads(payload)
    if not isinstance(given, dict):
        raise ValueError('not a JSON object')
    given = {name: value for name, value in given.items() if value is not None}
    for name, types in _TYPES.items():
        if name in given and (not isinstance(given[name], types) or isinstance(given[name], bool) != (types == (bool,))):
            raise ValueError(f'{name} has the wrong type')
    asked = {name: given.get(name, usual) for name, usual in DEFAULTS.items()}
    asked['mode'], asked['overflowStrategy'] = _named(asked['mode'], MODES), _named(asked['overflowStrategy'], STRATEGIES)
    asked['messageTtl'] = ttl_s = _seconds(asked['messageTtl'])
    corrected = {
        **asked,
        'mode': asked['mode'] or 'RoundRobin',
        'messageTtl': None if ttl_s is None or ttl_s <= 0 else min(ttl_s, 10_000 * 86_400),
        'enableDeadLetterQueue': asked['enableDeadLetterQueue'] or asked['overflowStrategy'] == 'RedirectToDlq',
        'deadLetterQueueName': None if asked['deadLetterQueueName'] == queue else asked['deadLetterQueueName'],
        'overflowStrategy': asked['overflowStrategy'] or 'DropOldest',
    }
    for name in ('maxQueueSize', 'maxRetryAttempts'):
        corrected[name] = max(1, min(int(asked[name]), 2 ** 31 - 1))
    return corrected, corrected != asked, not set(given) <= set(DEFAULTS)


def _named(value: int | str, names: tuple[str, ...]) -> str | None:
    """The name of an enumeration value, given as name or number; None if it is unknown."""
    known = {key: name for number, name in enumerate(names) for key in (number, name.lower())}
    return known.get(value.lower() if isinstance(value, str) else value)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r'(-)?(?:(\d+)\.)?(\d\d):(\d\d):(\d\d)(\.\d{1,7})?', text)
    if match is None:
        raise ValueError('messageTtl is not a time span')
    sign, days, hours, minutes, seconds, fraction = match.groups()
    length_s = int(days or 0) * 86_400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(fraction or 0)
    return -length_s if sign else length_s


def span_text(length_s: float, always_has_fraction: bool = False) -> str:
    """`[d.]hh:mm:ss[.fffffff]`"""
    whole, ticks = divmod(round(length_s * 10_000_000), 10_000_000)
    days, rest = divmod(whole, 86_400)
    text = f'{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}'
    return (f'{days}.' if days else '') + text + (f'.{ticks:07}' if ticks or always_has_fraction else '')


def timestamp() -> str:
    """The current UTC time, with an offset instead of Z and without a fraction."""
    return datetime.now(timezone.utc).isoformat(timespec='seconds')


def json_text(value: Any) -> bytes:
    """JSON in an unusual form: with white space, ASCII only."""
    return json.dumps(value, indent=1).encode()
