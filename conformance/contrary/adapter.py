"""The contrary broker: a conformant broker that decides every recommendation otherwise (see README.md).

Speaks the adapter protocol: one line of JSON in, one out, then it serves until SIGTERM or the end of its input. `--manners SEED` draws a
broker at random instead. Memory only, no compression, no authentication, no TLS, no dashboard.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from queues import Broker
from session import Session
from wire import json_text, timestamp

# A row for each decision: the requirements that recommend something, and what this broker may do instead, the most contrary outcome first.
CHOICES = json.loads(Path(__file__).with_name('choices.json').read_text())
UNSUPPORTED_GROUPS = ('storage', 'authentication', 'tls', 'rateLimit')
SETTINGS = {
    'limits': {'maxMessageSizeBytes': 1_048_576},
    'queueDefaults': {'deliveryMode': 'RoundRobin', 'maxQueueSize': 10_000, 'enableAutoCreate': True},
    # maxRetryDelayMs is known, and then not kept to: that is a recommendation too.
    'timing': {'ackTimeoutMs': 30_000, 'retryDelayMs': 1000, 'maxRetryDelayMs': None},
}


class Manners(dict):
    """The outcome of every decision, by its name. Seed 0 is the most contrary broker; any other one draws each outcome."""

    def __init__(self, seed: int = 0) -> None:
        draw = random.Random(seed)
        super().__init__((name, outcomes[0] if seed == 0 else draw.choice(outcomes)) for name, (_, outcomes) in CHOICES.items())

    def takes(self, name: str, outcome: str) -> bool:
        """A name or an outcome that is not in the table is a fault of the broker's code, and loud."""
        if outcome not in CHOICES[name][1]:
            raise KeyError(f'{name}: {outcome}')
        return self[name] == outcome


class HealthSession(asyncio.Protocol):
    """One request for health or metrics: the least that the records must have, and statuses of its own. Areas: HEALTH, METRICS, HTTP."""

    def __init__(self, broker: Broker) -> None:
        self._broker, self._request = broker, b''

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._request += data
        if b'\r\n\r\n' not in self._request:
            return
        method, path = self._request.decode('latin-1').split(' ')[:2]
        status, kind, body = '200 OK', 'application/json', json_text(self._records().get(path))
        if path not in self._records():
            status, kind, body = '400 Bad Request', 'text/plain', b'No such path.'
        elif method != 'GET':
            status, kind, body = '501 Not Implemented', 'text/plain', b'GET only.'
        head = f'HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nContent-Type: {kind}\r\nConnection: close\r\n'
        self._transport.write(head.encode() + b'Access-Control-Allow-Origin: *\r\n\r\n' + body)
        self._transport.close()

    def _records(self) -> dict[str, dict[str, Any]]:
        """By their paths; of the metrics the shorter form. What the counters count is theirs: publishes whatever became of them, and acks
        whatever they meant. The memory is the most that the process has used."""
        broker, used_bytes = self._broker, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {
            '/health/': {'status': 'healthy', 'active_connections': len(broker.sessions), 'queue_count': len(broker.queues),
                         'memory_usage_mb': used_bytes // 2 ** 20},
            '/metrics/': {'total_messages_published': broker.published_count, 'total_messages_delivered': broker.published_count,
                          'total_messages_acknowledged': broker.acknowledged_count, 'active_connections': len(broker.sessions),
                          'active_queues': len(broker.queues), 'memory_usage_bytes': used_bytes, 'average_delivery_latency_ms': 0,
                          'timestamp': timestamp()},
        }


async def serve(request: dict[str, Any], manners: Manners) -> None:
    loop = asyncio.get_running_loop()
    settings = {name: (request.get(group) or {}).get(name, usual) for group, all_ in SETTINGS.items() for name, usual in all_.items()}
    broker = Broker(manners, settings, loop)
    tcp = await loop.create_server(lambda: Session(broker), request['tcp']['host'], request['tcp']['port'])
    health = await loop.create_server(lambda: HealthSession(broker), request['health']['host'], request['health']['port'])
    unsupported = [group for group in UNSUPPORTED_GROUPS if request.get(group) not in (None, 'memory')]
    unsupported += [f'{group}.{name}' for group in SETTINGS for name in request.get(group) or {} if name not in SETTINGS[group]]
    answer = {
        'protocol': 1, 'ready': True, 'broker': {'name': 'Contrary', 'version': '1'}, 'unsupported': unsupported,
        'tcp': dict(zip(('host', 'port'), tcp.sockets[0].getsockname())),
        'health': {'url': 'http://%s:%d' % health.sockets[0].getsockname()[:2]},
    }
    print(json.dumps(answer), flush=True)
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.add_reader(sys.stdin, stopped.set)  # Nothing but its end can come now.
    await stopped.wait()
    tcp.close()
    health.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--manners', type=int, default=0, metavar='SEED', help='0: contrary in everything (default); else drawn')
    manners = Manners(parser.parse_args().manners)
    try:
        asyncio.run(serve(json.loads(sys.stdin.readline()), manners))
    except OSError as error:
        print(json.dumps({'protocol': 1, 'ready': False, 'error': str(error)}), flush=True)


if __name__ == '__main__':
    main()
