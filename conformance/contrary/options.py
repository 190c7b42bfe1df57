"""Queue options and queue info as JSON, and the texts of time in them.

Reading options tells which of them are impossible and mends those; whether they are then taken is not decided here.
Areas: QUEUE (options), BODY (JSON on the wire).
"""
from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Dict, Optional, Tuple

ROUND_ROBIN, FAN_OUT_WITH_ACK, FAN_OUT_WITHOUT_ACK, PRIORITY_BASED = range(4)
DROP_OLDEST, DROP_NEWEST, BLOCK_PUBLISHER, REDIRECT_TO_DLQ = range(4)
MODES = ('RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased')
STRATEGIES = ('DropOldest', 'DropNewest', 'BlockPublisher', 'RedirectToDlq')
PRIORITIES = ('low', 'normal', 'high', 'critical')

_LARGEST = 2 ** 31 - 1
_LONGEST_TTL_S = 10_000 * 86_400
_SPAN = re.compile(r'(-)?(?:(\d+)\.)?(\d\d):(\d\d):(\d\d)(\.\d{1,7})?')
_TYPES = {'mode': (int, str), 'maxQueueSize': (int, float), 'messageTtl': (str,), 'enableDeadLetterQueue': (bool,),
          'deadLetterQueueName': (str,), 'overflowStrategy': (int, str), 'maxRetryAttempts': (int, float)}


class UselessOptions(Exception):
    """The payload is no JSON object, or a value has the wrong type."""


@dataclass(frozen=True)
class Options:
    mode: int = ROUND_ROBIN
    max_size: int = 10_000
    ttl_s: Optional[float] = None
    dead_letters: bool = False
    dead_letter_name: Optional[str] = None
    strategy: int = DROP_OLDEST
    max_attempts: int = 3


def read_options(payload: bytes, queue: str) -> Tuple[Options, bool, bool]:
    """The options, whether something in them was impossible and was mended, and whether some were unknown. Raises UselessOptions."""
    given = _object(payload)
    mode, strategy = _number(given.get('mode', 0), MODES), _number(given.get('overflowStrategy', 0), STRATEGIES)
    size, attempts, ttl_s = given.get('maxQueueSize', 10_000), given.get('maxRetryAttempts', 3), _ttl_s(given.get('messageTtl'))
    name, has_letters = given.get('deadLetterQueueName'), given.get('enableDeadLetterQueue', False)
    mended = Options(
        mode=ROUND_ROBIN if mode is None else mode,
        max_size=_possible(size),
        ttl_s=None if ttl_s is None or ttl_s <= 0 else min(ttl_s, _LONGEST_TTL_S),
        dead_letters=has_letters or strategy == REDIRECT_TO_DLQ,
        dead_letter_name=None if name == queue else name,
        strategy=DROP_OLDEST if strategy is None else strategy,
        max_attempts=_possible(attempts),
    )
    is_impossible = mended != Options(mode, size, ttl_s, has_letters, name, strategy, attempts)
    return mended, is_impossible, not set(given) <= set(_TYPES)


def _object(payload: bytes) -> Dict[str, Any]:
    try:
        given = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise UselessOptions('no JSON') from error
    if not isinstance(given, dict):
        raise UselessOptions('no JSON object')
    present = {name: value for name, value in given.items() if value is not None}
    for name, types in _TYPES.items():
        value = present.get(name)
        if value is not None and (not isinstance(value, types) or isinstance(value, bool) != (types == (bool,))):
            raise UselessOptions(f'{name} has the wrong type')
    return present


def _possible(number: float) -> int:
    return max(1, min(int(number), _LARGEST))


def _number(value: Any, names: Tuple[str, ...]) -> Optional[int]:
    """The number of an enumeration's value; None where it is none of them."""
    lower = [name.lower() for name in names]
    if isinstance(value, str):
        return lower.index(value.lower()) if value.lower() in lower else None
    return value if value in range(len(names)) else None


def _ttl_s(text: Optional[str]) -> Optional[float]:
    if text is None:
        return None
    match = _SPAN.fullmatch(text)
    if match is None:
        raise UselessOptions('messageTtl is no time span')
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


def without_space(payload: bytes) -> bytes:
    """The same JSON value in other bytes."""
    return re.sub(rb'("(?:[^"\\]|\\.)*")|[ \t\r\n]+', lambda match: match.group(1) or b'', payload)
