"""One client's connection to the contrary broker: commands in, answers out.

Answers to one piece of input leave together, in an order that is one of the broker's manners. Areas: CONN, BODY, PUBLISH, QUEUE, ERROR.
"""
from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from typing import Any

import wire
from queues import Broker, Message, Queue, Subscription
from rewriting import rewritten
from wire import MODES, PRIORITIES, STRATEGIES, USELESS, Frame, json_text, read_options, span_text

ANSWERS = {wire.SUBSCRIBE: wire.SUBSCRIBE_ACK, wire.UNSUBSCRIBE: wire.UNSUBSCRIBE_ACK, wire.PUBLISH: wire.PUBLISH_ACK,
           wire.CREATE_QUEUE: wire.CREATE_QUEUE, wire.DELETE_QUEUE: wire.DELETE_QUEUE, wire.QUEUE_INFO: wire.QUEUE_INFO}
ERRORS = ('refused', 'refused when equal', 'Error', 'late Error', 'Error and close')
CLOSES = ('close', 'Error and close')


class Refused(Exception):
    """The command is not carried out now. Its arguments: the Error's recommended code, or None where nothing is said; and whether the
    connection ends."""


class Session(asyncio.Protocol):
    def __init__(self, broker: Broker) -> None:
        self._broker, self._manners = broker, broker.manners
        self._stream, self._outbox = bytearray(), []
        self._frames = wire.split(self._stream, broker.settings['maxMessageSizeBytes'])
        self._is_connected = self._is_blocked = self._is_closing = False
        self._handlers = {
            wire.CONNECT: self._connect, wire.PING: self._ping, wire.PUBLISH: self._publish, wire.ACK: self._ack,
            wire.SUBSCRIBE: self._subscribe, wire.UNSUBSCRIBE: self._unsubscribe, wire.CREATE_QUEUE: self._create,
            wire.DELETE_QUEUE: self._delete, wire.QUEUE_INFO: self._info, wire.LIST_QUEUES: self._list,
            wire.DISCONNECT: self._disconnect,
        }

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._broker.sessions.add(self)

    def data_received(self, data: bytes) -> None:
        """Works off what has come, up to a Publish that blocks."""
        self._stream += data
        while not self._is_blocked and not self._is_closing:
            frame = next(self._frames)
            if frame is None:
                break
            try:
                self._carry_out(frame)
            except Refused as refusal:
                code, self._is_closing = refusal.args
                if code is not None:
                    self._error(frame, code)
        self._broker.settle()

    def connection_lost(self, _error: Exception | None) -> None:
        self._broker.sessions.discard(self)
        self._broker.leave(self)
        self._broker.settle()

    def flush(self) -> None:
        """Sends what was collected; closes afterwards where that was decided."""
        order = self._manners['order of answers']
        if order != 'as asked':
            self._outbox.sort(key=lambda frame: (frame.command == wire.ERROR) != (order == 'Errors first'))
        if self._outbox and not self._transport.is_closing():
            self._transport.write(b''.join(map(wire.encoded, self._outbox)))
        self._outbox.clear()
        if self._is_closing:
            self._transport.close()

    def _carry_out(self, frame: Frame) -> None:
        """Raises Refused for what no command may be (no manner takes a fault); what would only be bad is taken."""
        if frame.fault:
            self._judge(True, *frame.fault)
        if not self._is_connected and frame.command not in (wire.CONNECT, wire.PING):
            choice = 'Disconnect before Connect' if frame.command == wire.DISCONNECT else 'before Connect'
            self._judge(True, choice, 'NOT_AUTHENTICATED')
        self._judge(self._is_connected and frame.version != 1, 'version of later frames')
        self._judge(frame.id == '', 'empty id')
        self._judge(not frame.is_text(), 'not UTF-8')
        self._judge(frame.header_count > 50, 'many headers')
        self._judge(frame.trail != b'', 'trailing bytes')
        if frame.command in ANSWERS and frame.queue == '':
            raise Refused('INVALID_QUEUE', False)
        self._judge(frame.command not in self._handlers, 'unknown command', 'UNKNOWN_COMMAND')
        payload = self._handlers[frame.command](frame)
        if frame.command in ANSWERS:
            self._outbox.append(Frame(ANSWERS[frame.command], frame.id, frame.queue, payload or b''))

    def _judge(self, is_there: bool, choice: str, code: str = 'INVALID_MESSAGE') -> None:
        """Raises Refused for what is there and the manners do not take."""
        manner = self._manners[choice]
        if is_there and manner in (*ERRORS, *CLOSES, 'pass over'):
            raise Refused(code if manner in ERRORS else None, manner in CLOSES)

    def _error(self, frame: Frame, code: str) -> None:
        said = {'own': 'contrary.refusal', 'SERVER_ERROR': 'SERVER_ERROR', 'named': code}[self._manners['error code']]
        to = self._manners['error without an id' if frame.fault else 'error id']
        ids = {'empty': '', 'fresh': str(uuid.uuid4()), 'echoed': frame.id}
        self._outbox.append(Frame(wire.ERROR, ids[to], error=(said, f'No ({code}).')))

    def deliver(self, frame: Frame, queue: str) -> None:
        trail = frame.trail if self._manners.takes('trailing bytes', 'forwarded') else b''
        headers = dict(list(frame.headers.items())[::-1])
        delivered = Frame(wire.DELIVER, frame.id, queue, frame.payload, headers, trail=trail)
        if self._manners.takes('delivered payload', 'written anew'):
            other = replace(delivered, payload=rewritten(frame.payload))
            if len(wire.encoded(other)) - wire.HEADER_BYTES <= self._broker.settings['maxMessageSizeBytes']:
                delivered = other
        self._outbox.append(delivered)

    def admitted(self, frame: Frame) -> None:
        """A Publish that was blocked has entered its queue. What was not read meanwhile is read now."""
        self._outbox.append(Frame(wire.PUBLISH_ACK, frame.id, frame.queue))
        if self._is_blocked:
            self._is_blocked = False
            self._transport.resume_reading()
            self._broker.loop.call_soon(self.data_received, b'')

    # --- commands: each returns the payload of its answer, if any ---

    def _connect(self, _frame: Frame) -> None:
        """Also the second one: everything begins anew."""
        self._broker.leave(self)
        self._is_connected = True
        self._outbox.append(Frame(wire.CONNECT_ACK, str(uuid.uuid4())))

    def _disconnect(self, _frame: Frame) -> None:
        raise Refused(None, True)

    def _ping(self, frame: Frame) -> None:
        self._outbox.append(Frame(wire.PONG, frame.id))

    def _publish(self, frame: Frame) -> None:
        queue, priority = self._existing(frame), (frame.headers.get('priority') or 'normal').lower()
        if priority not in PRIORITIES:
            priority = self._manners['unknown priority'].lower()
        outcome = self._broker.publish(queue, Message(frame, PRIORITIES.index(priority), publisher=self))
        self._judge(outcome == 'dropped', 'DropNewest', 'QUEUE_FULL')
        if outcome == 'blocked':
            if self._manners.takes('connection with a blocked Publish', 'not read'):
                self._is_blocked = True
                self._transport.pause_reading()
            raise Refused(None, False)

    def _existing(self, frame: Frame) -> Queue:
        """The queue that the frame names, made where that may be."""
        queue = self._broker.queues.get(frame.queue)
        if queue is None and not self._broker.settings['enableAutoCreate']:
            raise Refused('QUEUE_NOT_FOUND', False)
        return queue or self._broker.make(frame.queue, self._broker.defaults)

    def _ack(self, frame: Frame) -> None:
        named = frame.headers.get('messageId') if self._manners.takes('header messageId of an Ack', 'read') else None
        queue = frame.queue if frame.queue and self._manners.takes('queue of an Ack', 'read') else None
        self._broker.acknowledge(self, named or frame.id, queue)

    def _subscribe(self, frame: Frame) -> None:
        self._judge(frame.queue not in self._broker.queues, 'subscribe to a missing queue', 'QUEUE_NOT_FOUND')
        queue = self._existing(frame)
        subscription = self._subscription(queue)
        self._judge(subscription is not None, 'second subscribe')
        if subscription is None:
            queue.audience.append(Subscription(self, frame.queue))
        self._broker.touched.add(frame.queue)

    def _unsubscribe(self, frame: Frame) -> None:
        subscription = self._subscription(self._broker.queues.get(frame.queue))
        self._judge(subscription is None, 'unsubscribe without a subscription', 'QUEUE_NOT_FOUND')
        if subscription is not None:
            self._broker.unsubscribe(subscription)

    def _subscription(self, queue: Queue | None) -> Subscription | None:
        return next((one for one in (queue.audience if queue else ()) if one.session is self), None)

    def _create(self, frame: Frame) -> None:
        queue, wanted, is_impossible, has_unknown = self._broker.queues.get(frame.queue), self._broker.defaults, False, False
        try:
            if frame.payload != b'':
                wanted, is_impossible, has_unknown = read_options(frame.payload, frame.queue)
        except USELESS as error:
            if queue is None and self._manners.takes('options of no use', 'refused, queue made'):
                self._broker.make(frame.queue, self._broker.defaults)
            raise Refused('INVALID_PAYLOAD', False) from error
        self._judge(is_impossible, 'impossible options', 'INVALID_PAYLOAD')
        self._judge(has_unknown, 'unknown options', 'INVALID_PAYLOAD')
        if queue is None:
            self._broker.make(frame.queue, wanted)
        elif frame.payload == b'' or wanted == queue.options:
            self._judge(True, 'create an existing queue', 'QUEUE_EXISTS')

    def _delete(self, frame: Frame) -> None:
        queue = self._broker.queues.get(frame.queue)
        self._judge(queue is None, 'delete a missing queue', 'QUEUE_NOT_FOUND')
        if queue is not None:
            self._broker.delete(queue)

    def _list(self, frame: Frame) -> None:
        self._outbox.append(Frame(wire.LIST_QUEUES, frame.id, payload=json_text(sorted(self._broker.queues, reverse=True))))

    def _info(self, frame: Frame) -> bytes:
        queue = self._broker.queues.get(frame.queue)
        if queue is None:
            return b''
        options, ttl_s = queue.options, queue.options['messageTtl']
        info = {
            'maxRetryAttempts': options['maxRetryAttempts'], 'overflowStrategy': STRATEGIES.index(options['overflowStrategy']),
            'deadLetterQueueName': options['deadLetterQueueName'], 'enableDeadLetterQueue': options['enableDeadLetterQueue'],
            'messageTtl': None if ttl_s is None else span_text(ttl_s), 'createdAt': queue.created_at,
            'maxSize': options['maxQueueSize'], 'deliveryMode': MODES.index(options['mode']),
            'subscriberCount': len(queue.audience), 'messageCount': len(queue.waiting), 'name': queue.name,
        }
        return json_text({name: value for name, value in info.items() if value is not None})
