"""One client's connection to the contrary broker: commands in, answers out.

Answers are collected while a piece of input is worked off and leave together, in an order that is part of the broker's manners.
Areas: CONN, BODY, PUBLISH, QUEUE, ERROR.
"""
from __future__ import annotations

import asyncio
import uuid
from typing import Any, Dict, List, Optional

import frames
from frames import Frame
from options import PRIORITIES, Options, UselessOptions, json_text, read_options, span_text, without_space
from queues import Message, Queue, Subscription

ANSWERS = {frames.SUBSCRIBE: frames.SUBSCRIBE_ACK, frames.UNSUBSCRIBE: frames.UNSUBSCRIBE_ACK, frames.PUBLISH: frames.PUBLISH_ACK,
           frames.CREATE_QUEUE: frames.CREATE_QUEUE, frames.DELETE_QUEUE: frames.DELETE_QUEUE, frames.QUEUE_INFO: frames.QUEUE_INFO}


class Refused(Exception):
    """The command is not carried out. `code` is the Error's recommended code; without one nothing is said."""

    def __init__(self, code: Optional[str], closes: bool = False) -> None:
        super().__init__(code)
        self.code, self.closes = code, closes


class Session(asyncio.Protocol):
    def __init__(self, broker: Any) -> None:
        self._broker, self._depot, self._manners = broker, broker.depot, broker.manners
        self._splitter = frames.Splitter(broker.settings.max_body_bytes)
        self._outbox: List[Frame] = []
        self._is_connected = self._is_blocked = self._is_closing = False
        self._handlers = {
            frames.CONNECT: self._connect, frames.PING: self._ping, frames.PUBLISH: self._publish, frames.ACK: self._ack,
            frames.SUBSCRIBE: self._subscribe, frames.UNSUBSCRIBE: self._unsubscribe, frames.CREATE_QUEUE: self._create,
            frames.DELETE_QUEUE: self._delete, frames.QUEUE_INFO: self._info, frames.LIST_QUEUES: self._list,
            frames.DISCONNECT: self._disconnect,
        }

    # --- the connection ---

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._broker.sessions.add(self)

    def data_received(self, data: bytes) -> None:
        self._splitter.feed(data)
        self._work()
        self._broker.settle()

    def connection_lost(self, _error: Optional[Exception]) -> None:
        self._broker.sessions.discard(self)
        self._depot.leave(self)
        self._broker.settle()

    def flush(self) -> None:
        """Sends what was collected; closes afterwards where that was decided."""
        order = self._manners['order of answers']
        if order != 'as asked':
            self._outbox.sort(key=lambda frame: (frame.command == frames.ERROR) != (order == 'Errors first'))
        if self._outbox and not self._transport.is_closing():
            self._transport.write(b''.join(map(frames.encoded, self._outbox)))
        self._outbox.clear()
        if self._is_closing:
            self._transport.close()

    def _work(self) -> None:
        """Works off what has come, up to a Publish that blocks."""
        while not self._is_blocked and not self._is_closing:
            body = self._splitter.next()
            if body is None:
                return
            if isinstance(body, frames.Fault):
                self._fault(body)
            else:
                self._read(body)

    def _fault(self, fault: frames.Fault) -> None:
        reaction = self._manners['framing fault']
        if reaction in ('late Error', 'Error and close'):
            self._error(None, 'MESSAGE_TOO_LARGE' if fault.is_size else 'INVALID_MESSAGE')
        self._is_closing = reaction in ('close', 'Error and close')

    def _read(self, body: bytes) -> None:
        frame = None
        try:
            frame = frames.decoded(body)
            self._check(frame)
            self._handlers.get(frame.command, self._unknown)(frame)
        except frames.BrokenBody:
            self._is_closing = self._manners.takes('broken body', 'close')
            if not self._is_closing:
                self._error(None, 'INVALID_MESSAGE')
        except Refused as refusal:
            self._is_closing = refusal.closes
            if refusal.code is not None:
                self._error(frame, refusal.code)

    def _check(self, frame: Frame) -> None:
        """Raises Refused for what no command may be; what would only be bad is taken."""
        if not self._is_connected and frame.command not in (frames.CONNECT, frames.PING):
            manner = self._manners['Disconnect before Connect' if frame.command == frames.DISCONNECT else 'before Connect']
            raise Refused('NOT_AUTHENTICATED' if manner == 'Error' else None, closes=manner == 'close')
        faults: Dict[str, bool] = {
            'version of later frames': self._is_connected and frame.version != 1,
            'empty id': frame.id == '',
            'not UTF-8': not all(map(frames.is_text, (frame.id, frame.queue, *dict(frame.headers)))),
            'many headers': len(frame.headers) > 50,
            'trailing bytes': frame.trail != b'',
        }
        if any(is_there and self._manners[fault] == 'refused' for fault, is_there in faults.items()):
            raise Refused('INVALID_MESSAGE')
        if frame.command in ANSWERS and frame.queue == '':
            raise Refused('INVALID_QUEUE')

    # --- answers ---

    def _answer(self, frame: Frame, payload: bytes = b'') -> None:
        self._outbox.append(Frame(ANSWERS[frame.command], frame.id, frame.queue, payload))

    def _error(self, frame: Optional[Frame], code: str) -> None:
        said = {'own': 'contrary.refusal', 'SERVER_ERROR': 'SERVER_ERROR', 'named': code}[self._manners['error code']]
        if frame is None:
            to = '' if self._manners.takes('error without an id', 'empty') else str(uuid.uuid4())
        else:
            to = frame.id if self._manners.takes('error id', 'echoed') else str(uuid.uuid4())
        self._outbox.append(Frame(frames.ERROR, to, error=(said, f'No ({code}).')))

    def deliver(self, message: Message, queue: str) -> None:
        is_kept = self._manners.takes('delivered payload', 'as it came')
        payload = message.payload if is_kept else without_space(message.payload)
        trail = message.trail if self._manners.takes('trailing bytes', 'forwarded') else b''
        headers = list(dict(message.headers).items())[::-1]
        self._outbox.append(Frame(frames.DELIVER, message.id, queue, payload, headers, trail=trail))

    def admitted(self, message: Message, queue: str) -> None:
        """A Publish that was blocked has entered its queue. What was not read meanwhile is read now."""
        self._outbox.append(Frame(frames.PUBLISH_ACK, message.id, queue))
        if self._is_blocked:
            self._is_blocked = False
            self._transport.resume_reading()
            self._broker.soon(self._work)

    # --- commands ---

    def _connect(self, _frame: Frame) -> None:
        """Also the second one: everything begins anew."""
        self._depot.leave(self)
        self._is_connected = True
        self._outbox.append(Frame(frames.CONNECT_ACK, str(uuid.uuid4())))

    def _disconnect(self, _frame: Frame) -> None:
        self._is_closing = True

    def _ping(self, frame: Frame) -> None:
        self._outbox.append(Frame(frames.PONG, frame.id))

    def _unknown(self, _frame: Frame) -> None:
        manner = self._manners['unknown command']
        raise Refused(None if manner == 'pass over' else 'UNKNOWN_COMMAND', closes=manner == 'Error and close')

    def _publish(self, frame: Frame) -> None:
        queue = self._existing(frame)
        text = (frame.header('priority') or 'normal').lower()
        unknown = PRIORITIES.index('low' if self._manners.takes('unknown priority', 'Low') else 'normal')
        priority = PRIORITIES.index(text) if text in PRIORITIES else unknown
        message = Message(frame.id, frame.payload, frame.headers, priority, publisher=self, trail=frame.trail)
        outcome = self._depot.publish(queue, message, self)
        if outcome == 'dropped' and self._manners.takes('DropNewest', 'Error'):
            raise Refused('QUEUE_FULL')
        if outcome != 'blocked':
            self._answer(frame)
        elif self._manners.takes('connection with a blocked Publish', 'not read'):
            self._is_blocked = True
            self._transport.pause_reading()

    def _existing(self, frame: Frame) -> Queue:
        """The queue that the frame names, made where that may be."""
        queue = self._depot.queues.get(frame.queue)
        if queue is None and not self._broker.settings.auto_create:
            raise Refused('QUEUE_NOT_FOUND')
        return queue or self._depot.make(frame.queue, self._broker.settings.defaults)

    def _ack(self, frame: Frame) -> None:
        named = frame.header('messageId') if self._manners.takes('header messageId of an Ack', 'read') else None
        queue = frame.queue if frame.queue and self._manners.takes('queue of an Ack', 'read') else None
        self._depot.acknowledge(self, named or frame.id, queue)

    def _subscribe(self, frame: Frame) -> None:
        if frame.queue not in self._depot.queues and self._manners.takes('subscribe to a missing queue', 'refused'):
            raise Refused('QUEUE_NOT_FOUND')
        queue = self._existing(frame)
        if self._subscription(frame.queue) is None:
            queue.audience.append(Subscription(self, frame.queue))
        elif self._manners.takes('second subscribe', 'refused'):
            raise Refused('INVALID_MESSAGE')
        self._answer(frame)
        self._depot.touched.add(frame.queue)

    def _unsubscribe(self, frame: Frame) -> None:
        subscription = self._subscription(frame.queue)
        if subscription is not None:
            self._depot.unsubscribe(subscription)
        elif self._manners.takes('unsubscribe without a subscription', 'refused'):
            raise Refused('QUEUE_NOT_FOUND')
        self._answer(frame)

    def _subscription(self, queue: str) -> Optional[Subscription]:
        return next((one for one in self._depot.audiences[queue] if one.session is self), None)

    def _create(self, frame: Frame) -> None:
        queue, defaults = self._depot.queues.get(frame.queue), self._broker.settings.defaults
        wanted = defaults if frame.payload == b'' else self._wanted(frame, queue)
        if queue is None:
            self._depot.make(frame.queue, wanted)
        elif frame.payload == b'' or wanted == queue.options:
            if self._manners.takes('create an existing queue', 'refused when equal'):
                raise Refused('QUEUE_EXISTS')
        self._answer(frame)

    def _wanted(self, frame: Frame, queue: Optional[Queue]) -> Options:
        try:
            wanted, is_impossible, has_unknown = read_options(frame.payload, frame.queue)
        except UselessOptions as error:
            if queue is None and self._manners.takes('options of no use', 'refused, queue made'):
                self._depot.make(frame.queue, self._broker.settings.defaults)
            raise Refused('INVALID_PAYLOAD') from error
        if (is_impossible and self._manners.takes('impossible options', 'refused')) or (
                has_unknown and self._manners.takes('unknown options', 'refused')):
            raise Refused('INVALID_PAYLOAD')
        return wanted

    def _delete(self, frame: Frame) -> None:
        queue = self._depot.queues.get(frame.queue)
        if queue is not None:
            self._depot.delete(queue)
        elif self._manners.takes('delete a missing queue', 'refused'):
            raise Refused('QUEUE_NOT_FOUND')
        self._answer(frame)

    def _info(self, frame: Frame) -> None:
        queue = self._depot.queues.get(frame.queue)
        self._answer(frame, b'' if queue is None else json_text(info_of(queue)))

    def _list(self, frame: Frame) -> None:
        self._outbox.append(Frame(frames.LIST_QUEUES, frame.id, payload=json_text(sorted(self._depot.queues, reverse=True))))


def info_of(queue: Queue) -> Dict[str, Any]:
    given = queue.options
    info = {
        'maxRetryAttempts': given.max_attempts, 'overflowStrategy': given.strategy, 'deadLetterQueueName': given.dead_letter_name,
        'enableDeadLetterQueue': given.dead_letters, 'messageTtl': None if given.ttl_s is None else span_text(given.ttl_s),
        'createdAt': queue.created_at, 'maxSize': given.max_size, 'deliveryMode': given.mode,
        'subscriberCount': len(queue.audience), 'messageCount': len(queue.waiting), 'name': queue.name,
    }
    return {name: value for name, value in info.items() if value is not None}
