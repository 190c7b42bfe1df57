"""Rewrites JSON payloads: the same values in other bytes, with different white space, escapes and order of members.

Values stay exact: numbers keep all digits and strings keep all characters, including lone surrogates. The same payload always gives the
same result. Area: DELIVERY.
"""
from __future__ import annotations

import json
import random
import re
from functools import lru_cache
from typing import Any

GAPS = ('', '', ' ', '\n  ', '\t', '\r\n')
# Characters of a string beyond this number keep their usual form.
REWRITTEN_CHARACTERS = 100


class Number(str):
    """The text of a number, unchanged."""


class Members(list):
    """The members of an object, as pairs of name and value: a name may occur twice."""


@lru_cache(maxsize=64)
def rewritten(payload: bytes) -> bytes:
    """Returns the payload unchanged if it is not JSON or is nested too deeply."""
    try:
        value = json.loads(payload.decode(), parse_int=Number, parse_float=Number, parse_constant=_refuse, object_pairs_hook=Members)
        return _text(value, random.Random(payload)).encode()
    except (ValueError, RecursionError):
        return payload


def _refuse(name: str) -> None:
    raise ValueError(f'{name} is not JSON')


def _text(value: Any, draw: random.Random) -> str:
    return draw.choice(GAPS) + _bare_text(value, draw) + draw.choice(GAPS)


def _bare_text(value: Any, draw: random.Random) -> str:
    if isinstance(value, Number):
        return re.sub(r'[eE]\+?(?=\d)', 'E+', value)
    if isinstance(value, str):
        head, rest = value[:REWRITTEN_CHARACTERS], value[REWRITTEN_CHARACTERS:]
        return '"' + ''.join(_character(one, draw) for one in head) + json.dumps(rest)[1:]
    if isinstance(value, Members):
        # If names repeat, the order decides which member counts.
        if len({name for name, _ in value}) == len(value):
            draw.shuffle(value)
        return '{' + ','.join(f'{_text(name, draw)}:{_text(member, draw)}' for name, member in value) + '}'
    if isinstance(value, list):
        return '[' + ','.join(_text(element, draw) for element in value) + ']'
    return json.dumps(value)


def _character(one: str, draw: random.Random) -> str:
    """The character or an escape of it. A lone surrogate is always escaped."""
    if draw.random() < 0.3 or '\ud800' <= one <= '\udfff':
        units, form = one.encode('utf-16-be', 'surrogatepass').hex(), draw.choice((str.lower, str.upper))
        return ''.join('\\u' + form(units[at:at + 4]) for at in range(0, len(units), 4))
    if one.isalnum():
        return one
    return '\\/' if one == '/' else json.dumps(one, ensure_ascii=False)[1:-1]
