"""Users of the contrary broker: credentials, access lists, and the admin commands, all in memory.

Passwords are hashed with scrypt, in the event loop. This module does not know frames. Area: AUTH.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import time
from dataclasses import dataclass, field
from typing import Any

OPERATIONS = ('Publish', 'Subscribe', 'CreateQueue', 'DeleteQueue', 'PurgeQueue', 'GetQueueInfo', 'ListQueues')
_NAME = re.compile(r'[\w.-]{1,64}')


class Refusal(Exception):
    """A Connect or an admin command is refused. Argument: the recommended code of the Error."""


@dataclass(eq=False)
class User:
    """`entries`: the operations by pattern."""
    name: str
    is_superuser: bool = False
    salt: bytes = b''
    password_hash: bytes = b''
    created_at: float = field(default_factory=time.time)
    entries: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def allows(self, operation: str, queue: str) -> bool:
        return self.is_superuser or any(operation in allowed and matches(pattern, queue) for pattern, allowed in self.entries.items())


def matches(pattern: str, queue: str) -> bool:
    expression = '.*'.join(map(re.escape, pattern.split('*')))
    return re.fullmatch(expression, queue, re.IGNORECASE | re.DOTALL) is not None


class Users:
    """`of` and the admin commands raise Refusal."""

    def __init__(self, variant: Any, settings: dict[str, Any]) -> None:
        superuser = settings.get('superuser')
        self._variant, self._token = variant, settings.get('token')
        self._cost = settings.get('passwordCost') or 12
        self._users: dict[str, User] = {}
        self.is_on = superuser is not None
        if superuser is not None:
            self._add(superuser['username'], superuser['password'], is_superuser=True)

    def of(self, headers: dict[str, str]) -> User | None:
        """The user of a Connect with these headers; None: a client with all rights on queues."""
        token, name = headers.get('authToken'), headers.get('authUsername')
        if not self.is_on and self._token is None:
            return None
        if self._token is not None and token == self._token and (name is None or not self.is_on or self._prefers_token()):
            return User('') if self.is_on and self._variant.chooses('token when users are configured', 'no rights') else None
        if name is None or not self.is_on:
            raise Refusal('AUTH_FAILED' if token is not None and self._token is not None else 'AUTH_REQUIRED')
        user = self._users.get(name)
        if user is None or self._hash(headers.get('authPassword', ''), user.salt) != user.password_hash:
            raise Refusal('AUTH_FAILED')
        return user

    def _prefers_token(self) -> bool:
        return self._variant.chooses('Connect with token and user', 'the token counts')

    def _hash(self, password: str, salt: bytes) -> bytes:
        return hashlib.scrypt(password.encode('utf-8', 'surrogateescape'), salt=salt, n=2 ** (self._cost + 3), r=8, p=1, maxmem=2 ** 30)

    def _add(self, name: str, password: str, is_superuser: bool = False) -> None:
        self._users[name] = User(name, is_superuser)
        self._set_password(self._users[name], password)

    def _set_password(self, user: User, password: str) -> None:
        user.salt = os.urandom(16)
        user.password_hash = self._hash(password, user.salt)

    # --- admin commands: each returns the payload of its answer, and the user whose connections it concerns ---

    def carry_out(self, command: str, payload: bytes, asker: User | None) -> tuple[Any, User | None]:
        """`command`: its name without Admin."""
        given = _parsed(payload) if command != 'ListUsers' else {}
        is_own = asker is not None and given.get('username') == asker.name and command in ('ChangePassword', 'GetUserPermissions')
        if asker is None or not (asker.is_superuser or is_own):
            raise Refusal('NOT_AUTHORIZED')
        if command == 'ListUsers':
            return [{'createdAt': int(user.created_at), 'isSuperuser': user.is_superuser, 'username': user.name}
                    for user in sorted(self._users.values(), key=lambda user: user.created_at, reverse=True)], None
        name = _text(given, 'username')
        user = self._users.get(name)
        if command == 'CreateUser':
            return self._create(user, name, self._password(given, 'password'))
        if user is None:
            if command == 'GetUserPermissions' and self._variant.chooses('permissions of an unknown user', 'empty'):
                return [], None
            raise Refusal('USER_NOT_FOUND')
        if command == 'DeleteUser':
            if user.is_superuser:
                raise Refusal('FORBIDDEN')
            del self._users[name]
            user.entries.clear()
        elif command == 'ChangePassword':
            self._set_password(user, self._password(given, 'newPassword'))
        elif command == 'GetUserPermissions':
            return [{'operations': operations[::-1], 'queuePattern': pattern} for pattern, operations in user.entries.items()], None
        else:
            return self._change_entry(user, command == 'GrantPermission', given)
        return {'username': name}, user

    def _create(self, existing: User | None, name: str, password: str) -> tuple[Any, User | None]:
        if _NAME.fullmatch(name) is None:
            raise Refusal('INVALID_PAYLOAD')
        if existing is not None:
            raise Refusal('USER_EXISTS')
        self._add(name, password)
        return {'username': name}, None

    @staticmethod
    def _change_entry(user: User, is_grant: bool, given: dict[str, Any]) -> tuple[Any, User | None]:
        pattern = _text(given, 'queuePattern')
        if not is_grant:
            user.entries.pop(pattern, None)
            return {'queuePattern': pattern, 'username': user.name}, user
        operations = given.get('operations')
        if not isinstance(operations, list) or not set(operations) <= set(OPERATIONS):
            raise Refusal('INVALID_PAYLOAD')
        user.entries[pattern] = tuple(operations)
        return {'operations': operations, 'queuePattern': pattern, 'username': user.name}, user

    def _password(self, given: dict[str, Any], name: str) -> str:
        password = given.get(name)
        if not isinstance(password, str):
            raise Refusal('INVALID_PAYLOAD')
        if not 1 <= len(password.encode()) <= 72 and self._variant.chooses('empty and long passwords', 'refused'):
            raise Refusal('INVALID_PAYLOAD')
        return password


def _parsed(payload: bytes) -> dict[str, Any]:
    try:
        given = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Refusal('INVALID_PAYLOAD') from error
    if not isinstance(given, dict):
        raise Refusal('INVALID_PAYLOAD')
    return given


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str) or value == '':
        raise Refusal('INVALID_PAYLOAD')
    return value
