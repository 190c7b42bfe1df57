"""The contrary broker: a conformant broker that decides every recommendation otherwise (see README.md).

Speaks the adapter protocol: one line of JSON in, one out, then it serves until SIGTERM or the end of its input. `--manners SEED` draws a
broker at random instead. Memory only, no compression, no authentication, no TLS, no dashboard.
"""
from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Set

from health import HealthSession
from manners import Manners
from options import MODES, Options
from queues import Depot
from session import Session

NAME, VERSION = 'Contrary', '1'
UNSUPPORTED_GROUPS = ('storage', 'authentication', 'tls', 'rateLimit')
SUPPORTED = {'limits.maxMessageSizeBytes', 'queueDefaults.deliveryMode', 'queueDefaults.maxQueueSize', 'queueDefaults.enableAutoCreate',
             'timing.ackTimeoutMs', 'timing.retryDelayMs', 'timing.maxRetryDelayMs'}
# maxRetryDelayMs is known, and then not kept to: that is a recommendation too.


@dataclass(frozen=True)
class Settings:
    max_body_bytes: int
    auto_create: bool
    defaults: Options
    ack_timeout_s: float
    retry_delay_s: float


def settings_of(request: Dict[str, Any]) -> Settings:
    limits, queue, timing = (request.get(group) or {} for group in ('limits', 'queueDefaults', 'timing'))
    return Settings(
        max_body_bytes=limits.get('maxMessageSizeBytes', 1_048_576),
        auto_create=queue.get('enableAutoCreate', True),
        defaults=Options(mode=MODES.index(queue.get('deliveryMode', MODES[0])), max_size=queue.get('maxQueueSize', 10_000)),
        ack_timeout_s=timing.get('ackTimeoutMs', 30_000) / 1000,
        retry_delay_s=timing.get('retryDelayMs', 1000) / 1000,
    )


def unsupported(request: Dict[str, Any]) -> List[str]:
    """The settings asked for that this broker does not have, as dotted names."""
    groups = [group for group in UNSUPPORTED_GROUPS if request.get(group) not in (None, 'memory')]
    asked = [f'{group}.{name}' for group in ('limits', 'queueDefaults', 'timing') for name in request.get(group) or {}]
    return groups + [name for name in asked if name not in SUPPORTED]


class Broker:
    """Ties sessions and queues together: after each piece of input, deliveries are made and all answers sent."""

    def __init__(self, manners: Manners, settings: Settings, loop: asyncio.AbstractEventLoop) -> None:
        self.manners, self.settings, self._loop = manners, settings, loop
        self.depot = Depot(manners, settings, loop, self.settle)
        self.sessions: Set[Session] = set()

    def settle(self) -> None:
        self.depot.pump_touched()
        for session in list(self.sessions):
            session.flush()

    def soon(self, call: Callable[[], None]) -> None:
        self._loop.call_soon(lambda: (call(), self.settle()))


async def serve(request: Dict[str, Any], manners: Manners) -> None:
    loop = asyncio.get_running_loop()
    broker = Broker(manners, settings_of(request), loop)
    tcp = await loop.create_server(lambda: Session(broker), request['tcp']['host'], request['tcp']['port'])
    health = await loop.create_server(lambda: HealthSession(broker), request['health']['host'], request['health']['port'])
    host, port = tcp.sockets[0].getsockname()[:2]
    answer = {
        'protocol': 1, 'ready': True, 'broker': {'name': NAME, 'version': VERSION},
        'tcp': {'host': host, 'port': port}, 'health': {'url': 'http://%s:%d' % health.sockets[0].getsockname()[:2]},
        'unsupported': unsupported(request),
    }
    print(json.dumps(answer), flush=True)
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    loop.run_in_executor(None, sys.stdin.read).add_done_callback(lambda _end: stopped.set())
    await stopped.wait()
    tcp.close()
    health.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--manners', type=int, default=0, metavar='SEED', help='0: contrary in everything (default); else drawn')
    manners = Manners(parser.parse_args().manners)
    request = json.loads(sys.stdin.readline())
    try:
        asyncio.run(serve(request, manners))
    except OSError as error:
        print(json.dumps({'protocol': 1, 'ready': False, 'error': str(error)}), flush=True)


if __name__ == '__main__':
    main()
