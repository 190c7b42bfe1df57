"""The contrary broker: a conformant broker that decides every recommendation otherwise (see README.md).

Implements the adapter protocol: reads one line of JSON, writes one, then serves until SIGTERM or the end of its input. `--variant N`
with N > 0 chooses the outcome of each decision at random. Memory only; no compression or dashboard.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import signal
import ssl
import sys
from pathlib import Path
from typing import Any

from queues import Broker
from session import Session
from users import Users
from wire import json_text, timestamp

# One row per decision: the requirements that recommend something, and the outcomes to choose from. The first is the most contrary.
CHOICES = json.loads(Path(__file__).with_name('choices.json').read_text())
UNSUPPORTED_GROUPS = ('storage', 'rateLimit')
SETTINGS = {
    'limits': {'maxMessageSizeBytes': 1_048_576},
    'queueDefaults': {'deliveryMode': 'RoundRobin', 'maxQueueSize': 10_000, 'enableAutoCreate': True},
    # maxRetryDelayMs is accepted and ignored: to keep to it is a recommendation. So is handshakeTimeoutMs, except for TLS.
    'timing': {'ackTimeoutMs': 30_000, 'retryDelayMs': 1000, 'maxRetryDelayMs': None, 'handshakeTimeoutMs': 10_000},
}


class Variant(dict):
    """The outcome of every decision, by the name of the decision. Number 0 is the most contrary; any other number is a random seed."""

    def __init__(self, number: int = 0) -> None:
        draw = random.Random(number)
        super().__init__((name, outcomes[0] if number == 0 else draw.choice(outcomes)) for name, (_, outcomes) in CHOICES.items())

    def chooses(self, name: str, outcome: str) -> bool:
        """Raises KeyError for a name or an outcome that is not in the table."""
        if outcome not in CHOICES[name][1]:
            raise KeyError(f'{name}: {outcome}')
        return self[name] == outcome


class HealthSession(asyncio.Protocol):
    """One request for health or metrics: required fields only, unusual HTTP statuses. Areas: HEALTH, METRICS, HTTP."""

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
        """The records by path; the metrics in their short form. The counters count all publishes and acks, whatever their outcome. The
        memory is the peak of the process."""
        broker, used_bytes = self._broker, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {
            '/health/': {'status': 'healthy', 'active_connections': len(broker.sessions), 'queue_count': len(broker.queues),
                         'memory_usage_mb': used_bytes // 2 ** 20},
            '/metrics/': {'total_messages_published': broker.published_count, 'total_messages_delivered': broker.published_count,
                          'total_messages_acknowledged': broker.acknowledged_count, 'active_connections': len(broker.sessions),
                          'active_queues': len(broker.queues), 'memory_usage_bytes': used_bytes, 'average_delivery_latency_ms': 0,
                          'timestamp': timestamp()},
        }


def tls_options(tls: dict[str, str] | None, variant: Variant, timeout_s: float) -> dict[str, Any]:
    """The options of a server with TLS; none without. Raises OSError if the certificate cannot be used. Area: TLS."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, lambda: None)
    if not tls:
        return {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if variant.chooses('versions of TLS', '1.1 and 1.2'):
        context.set_ciphers('DEFAULT@SECLEVEL=0')
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls['certificatePath'], tls.get('keyPath'), tls.get('certificatePassword') or '')
    except OSError as error:
        files = f"{tls['certificatePath']}, {tls.get('keyPath')}: {error}"
        raise OSError(files if variant.chooses('unusable certificate', 'refused with its name') else 'no TLS') from error
    if variant.chooses('certificate after SIGHUP', 'read again'):
        password = tls.get('certificatePassword') or ''
        loop.add_signal_handler(signal.SIGHUP, context.load_cert_chain, tls['certificatePath'], tls.get('keyPath'), password)
    is_late = variant.chooses('TLS handshake that does not end', 'closed late')
    return {'ssl': context, 'ssl_handshake_timeout': timeout_s + 20 if is_late else timeout_s}


async def serve(request: dict[str, Any], variant: Variant) -> None:
    loop = asyncio.get_running_loop()
    settings = {name: (request.get(group) or {}).get(name, usual) for group, all_ in SETTINGS.items() for name, usual in all_.items()}
    broker = Broker(variant, settings, loop, Users(variant, request.get('authentication') or {}))
    tcp = await loop.create_server(lambda: Session(broker), request['tcp']['host'], request['tcp']['port'],
                                   **tls_options(request.get('tls'), variant, settings['handshakeTimeoutMs'] / 1000))
    health = await loop.create_server(lambda: HealthSession(broker), request['health']['host'], request['health']['port'])
    unsupported = [group for group in UNSUPPORTED_GROUPS if request.get(group) not in (None, 'memory')]
    unsupported += [f'{group}.{name}' for group in SETTINGS for name in request.get(group) or {} if name not in SETTINGS[group]]
    answer = {
        'protocol': 1, 'ready': True, 'broker': {'name': 'Contrary', 'version': '1'}, 'unsupported': unsupported,
        'tcp': {**dict(zip(('host', 'port'), tcp.sockets[0].getsockname())), 'tls': bool(request.get('tls'))},
        'health': {'url': 'http://%s:%d' % health.sockets[0].getsockname()[:2]},
    }
    print(json.dumps(answer), flush=True)
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.add_reader(sys.stdin, stopped.set)  # Only the end of input can follow.
    await stopped.wait()
    tcp.close()
    health.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--variant', type=int, default=0, metavar='N', help='0 (default): contrary in everything; N > 0: a random seed')
    variant = Variant(parser.parse_args().variant)
    try:
        asyncio.run(serve(json.loads(sys.stdin.readline()), variant))
    except OSError as error:
        print(json.dumps({'protocol': 1, 'ready': False, 'error': str(error)}), flush=True)


if __name__ == '__main__':
    main()
