"""Frames as bytes, and queue options as JSON: what the contrary broker reads and writes.

It decides nothing: faults are told, not answered; impossible options are told and mended, whether they are then taken or not. Text that
is no UTF-8 survives reading and writing unchanged (`surrogateescape`). Areas: FRAME, BODY, QUEUE (options).
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
HEADER_BYTES = 5  # of a frame: its length and flags
MODES = ('RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased')
STRATEGIES = ('DropOldest', 'DropNewest', 'BlockPublisher', 'RedirectToDlq')
PRIORITIES = ('low', 'normal', 'high', 'critical')

DEFAULTS = {'mode': 'RoundRobin', 'maxQueueSize': 10_000, 'messageTtl': None, 'enableDeadLetterQueue': False,
            'deadLetterQueueName': None, 'overflowStrategy': 'DropOldest', 'maxRetryAttempts': 3}
_TYPES = {'mode': (int, str), 'maxQueueSize': (int, float), 'messageTtl': (str,), 'enableDeadLetterQueue': (bool,),
          'deadLetterQueueName': (str,), 'overflowStrategy': (int, str), 'maxRetryAttempts': (int, float)}
USELESS = (ValueError, OverflowError, RecursionError)


@dataclass
class Frame:
    """One command or answer. Of headers with the same name the last one counts. `fault`: why it is none, and the code for that."""
    command: int
    id: str
    queue: str = ''
    payload: bytes = b''
    headers: dict[str, str] = field(default_factory=dict)
    header_count: int = 0
    version: int = 1
    trail: bytes = b''
    error: tuple[str, ...] = ()
    fault: tuple[str, ...] = ()

    def is_text(self) -> bool:
        """Whether it came as valid UTF-8, but for the headers' values."""
        return not any('\ud800' <= character <= '\udfff' for character in ''.join((self.id, self.queue, *self.headers)))


def decoded(body: bytes) -> Frame:
    """Reads a body that a client sent. Raises EOFError where the body ends before its last field does."""
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
    frame.trail = rest.read()
    return frame


def encoded(frame: Frame) -> bytes:
    """The whole frame, uncompressed."""
    body = bytes((frame.version, frame.command)) + _text(frame.id) + _text(frame.queue)
    body += struct.pack('>I', len(frame.payload)) + frame.payload + struct.pack('>H', len(frame.headers))
    body += b''.join(_text(part) for pair in (*frame.headers.items(), frame.error) for part in pair) + frame.trail
    return struct.pack('>IB', len(body), 0) + body


def _text(text: str) -> bytes:
    data = text.encode('utf-8', 'surrogateescape')
    return struct.pack('>H', len(data)) + data


def split(stream: bytearray, max_body_bytes: int) -> Iterator[Frame | None]:
    """Cuts the stream, which grows between the steps, into frames; None when more bytes are needed. One that breaks the framing is told
    when its body has been skipped; what follows is read as ever."""
    while True:
        while len(stream) < HEADER_BYTES:
            yield None
        length, flags = struct.unpack_from('>IB', stream)
        del stream[:HEADER_BYTES]
        # No compression is ever agreed, so a compressed body is as faulty as one with unknown flags.
        is_good = flags == 0 and 2 <= length <= max_body_bytes
        while len(stream) < length:
            if not is_good:
                length -= len(stream)
                stream.clear()
            yield None
        body = bytes(stream[:length])
        del stream[:length]
        try:
            yield decoded(body) if is_good else Frame(0, '', fault=('framing fault', 'INVALID_MESSAGE' if flags else 'MESSAGE_TOO_LARGE'))
        except EOFError:
            yield Frame(0, '', fault=('broken body', 'INVALID_MESSAGE'))


def read_options(payload: bytes, queue: str) -> tuple[dict[str, Any], bool, bool]:
    """The options by their names on the wire, the time to live in seconds; whether something in them was impossible and was mended; and
    whether some were unknown. Raises USELESS where the payload is no JSON object, or a value has the wrong type."""
    given = json.loads(payload)
    if not isinstance(given, dict):
        raise ValueError('no JSON object')
    given = {name: value for name, value in given.items() if value is not None}
    for name, types in _TYPES.items():
        if name in given and (not isinstance(given[name], types) or isinstance(given[name], bool) != (types == (bool,))):
            raise ValueError(f'{name} has the wrong type')
    asked = {name: given.get(name, usual) for name, usual in DEFAULTS.items()}
    asked['mode'], asked['overflowStrategy'] = _named(asked['mode'], MODES), _named(asked['overflowStrategy'], STRATEGIES)
    asked['messageTtl'] = ttl_s = _seconds(asked['messageTtl'])
    mended = {
        **asked,
        'mode': asked['mode'] or 'RoundRobin',
        'messageTtl': None if ttl_s is None or ttl_s <= 0 else min(ttl_s, 10_000 * 86_400),
        'enableDeadLetterQueue': asked['enableDeadLetterQueue'] or asked['overflowStrategy'] == 'RedirectToDlq',
        'deadLetterQueueName': None if asked['deadLetterQueueName'] == queue else asked['deadLetterQueueName'],
        'overflowStrategy': asked['overflowStrategy'] or 'DropOldest',
    }
    for name in ('maxQueueSize', 'maxRetryAttempts'):
        mended[name] = max(1, min(int(asked[name]), 2 ** 31 - 1))
    return mended, mended != asked, not set(given) <= set(DEFAULTS)


def _named(value: int | str, names: tuple[str, ...]) -> str | None:
    """The name of an enumeration's value; None where it is none of them."""
    known = {key: name for number, name in enumerate(names) for key in (number, name.lower())}
    return known.get(value.lower() if isinstance(value, str) else value)


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    match = re.fullmatch(r'(-)?(?:(\d+)\.)?(\d\d):(\d\d):(\d\d)(\.\d{1,7})?', text)
    if match is None:
        raise ValueError('messageTtl is no time span')
    sign, days, hours, minutes, seconds, fraction = match.groups()
    length_s = int(days or 0) * 86_400 + int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(fraction or 0)
    return -length_s if sign else length_s


def span_text(length_s: float) -> str:
    """`[d.]hh:mm:ss[.fffffff]`"""
    whole, ticks = divmod(round(length_s * 10_000_000), 10_000_000)
    days, rest = divmod(whole, 86_400)
    text = f'{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}'
    return (f'{days}.' if days else '') + text + (f'.{ticks:07}' if ticks else '')


def timestamp() -> str:
    """Now, in UTC, written with an offset instead of Z and without a fraction."""
    return datetime.now(timezone.utc).isoformat(timespec='seconds')


def json_text(value: Any) -> bytes:
    """JSON in another form than brokers are used to: with white space, ASCII only."""
    return json.dumps(value, indent=1).encode()
