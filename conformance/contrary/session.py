"""One client's connection to the contrary broker: commands in, answers out.

Answers to one input are sent together, in an order that the variant chooses. Areas: CONN, BODY, PUBLISH, QUEUE, ERROR.
"""
from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from typing import Any

import wire
from queues import Broker, Message, Queue, Subscription
from rewriting import rewritten
from users import OPERATIONS, Refusal, User
from wire import MODES, PRIORITIES, STRATEGIES, UNREADABLE, Frame, json_text, read_options, span_text

ANSWERS = {wire.SUBSCRIBE: wire.SUBSCRIBE_ACK, wire.UNSUBSCRIBE: wire.UNSUBSCRIBE_ACK, wire.PUBLISH: wire.PUBLISH_ACK,
           wire.CREATE_QUEUE: wire.CREATE_QUEUE, wire.DELETE_QUEUE: wire.DELETE_QUEUE, wire.QUEUE_INFO: wire.QUEUE_INFO}
RIGHTS = {wire.PUBLISH: 'Publish', wire.SUBSCRIBE: 'Subscribe', wire.CREATE_QUEUE: 'CreateQueue', wire.DELETE_QUEUE: 'DeleteQueue',
          wire.QUEUE_INFO: 'GetQueueInfo'}
ERRORS = ('refused', 'refused when equal', 'Error', 'late Error', 'Error and close')
CLOSES = ('close', 'Error and close')
ADDED_HEADERS = {'priority': 'Normal', 'sentBy': 'contrary'}  # only where the message has no header of that name


class Refused(Exception):
    """The broker does not execute the command now. Arguments: the recommended code of the Error, or None for no answer; and whether the
    connection ends."""


class Session(asyncio.Protocol):
    def __init__(self, broker: Broker) -> None:
        self._broker, self._variant = broker, broker.variant
        self._stream, self._outbox = bytearray(), []
        self._frames = wire.split(self._stream, broker.settings['maxMessageSizeBytes'])
        self._is_connected = self._is_blocked = self._is_closing = False
        self._refused_count = 0
        self.user: User | None = None  # None: all rights on queues
        self._handlers = {
            wire.CONNECT: self._connect, wire.PING: self._ping, wire.PUBLISH: self._publish, wire.ACK: self._ack,
            wire.SUBSCRIBE: self._subscribe, wire.UNSUBSCRIBE: self._unsubscribe, wire.CREATE_QUEUE: self._create,
            wire.DELETE_QUEUE: self._delete, wire.QUEUE_INFO: self._info, wire.LIST_QUEUES: self._list,
            wire.DISCONNECT: self._disconnect,
        }
        if broker.users.is_on:
            self._handlers.update((command, self._administer) for command in wire.ADMIN)

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._broker.sessions.add(self)

    def data_received(self, data: bytes) -> None:
        """Handles the received frames, up to a Publish that blocks."""
        self._stream += data
        while not self._is_blocked and not self._is_closing:
            frame = next(self._frames)
            if frame is None:
                break
            try:
                self._execute(frame)
            except Refused as refusal:
                code, self._is_closing = refusal.args
                if code is not None:
                    self._error(frame, code)
        self._broker.advance()

    def connection_lost(self, _error: Exception | None) -> None:
        self._broker.sessions.discard(self)
        self._broker.session_ended(self)
        self._broker.advance()

    def flush(self) -> None:
        """Sends the collected answers, then closes the connection if a command decided so."""
        order = self._variant['order of answers']
        if order != 'in order of the commands':
            self._outbox.sort(key=lambda frame: (frame.command == wire.ERROR) != (order == 'Errors first'))
        if self._outbox and not self._transport.is_closing():
            self._transport.write(b''.join(map(wire.encoded, self._outbox)))
        self._outbox.clear()
        if self._is_closing:
            self._transport.close()

    def _execute(self, frame: Frame) -> None:
        """Raises Refused when the frame is faulty or the variant refuses it."""
        if frame.fault:
            self._check(True, *frame.fault)
        if not self._is_connected and frame.command not in (wire.CONNECT, wire.PING):
            choice = 'Disconnect before Connect' if frame.command == wire.DISCONNECT else 'before Connect'
            self._check(True, choice, 'NOT_AUTHENTICATED')
        self._check(self._is_connected and frame.version != 1, 'version of later frames')
        self._check(frame.id == '', 'empty id')
        self._check(not frame.is_text(), 'not UTF-8')
        self._check(not wire.is_text(*frame.headers.values()), 'header value that is not UTF-8')
        self._check(frame.header_count > 50, 'many headers')
        self._check(frame.trailing != b'', 'trailing bytes')
        if frame.command in ANSWERS and frame.queue == '':
            raise Refused('INVALID_QUEUE', False)
        self._check(frame.command not in self._handlers, 'unknown command', 'UNKNOWN_COMMAND')
        self._require(RIGHTS.get(frame.command), frame.queue)
        payload = self._handlers[frame.command](frame)
        if frame.command in ANSWERS:
            self._outbox.append(Frame(ANSWERS[frame.command], frame.id, frame.queue, payload or b''))

    def _require(self, operation: str | None, queue: str) -> None:
        """Raises Refused when the user lacks the right."""
        if operation is not None and self.user is not None and not self.user.allows(operation, queue):
            raise Refused('NOT_AUTHORIZED', False)

    def _check(self, is_present: bool, choice: str, code: str = 'INVALID_MESSAGE') -> None:
        """Raises Refused when the case is present and the variant does not accept it."""
        outcome = self._variant[choice]
        if is_present and outcome in (*ERRORS, *CLOSES, 'ignore'):
            raise Refused(code if outcome in ERRORS else None, outcome in CLOSES)

    def _error(self, frame: Frame, code: str) -> None:
        sent_code = {'own code': 'contrary.refusal', 'SERVER_ERROR': 'SERVER_ERROR', 'recommended': code}[self._variant['error code']]
        to = self._variant['error without an id' if frame.fault else 'error id']
        ids = {'empty': '', 'new': str(uuid.uuid4()), 'echoed': frame.id}
        text = {'none': '', 'a sentence': f'Refused ({code}).'}[self._variant['text of an Error']]
        self._outbox.append(Frame(wire.ERROR, ids[to], error=(sent_code, text)))

    def deliver(self, frame: Frame, queue: str) -> None:
        trailing = frame.trailing if self._variant.chooses('trailing bytes', 'forwarded') else b''
        headers = dict(list(frame.headers.items())[::-1])
        delivered = Frame(wire.DELIVER, frame.id, queue, frame.payload, headers, trailing=trailing)
        if self._variant.chooses('delivered payload', 'rewritten'):
            delivered = self._if_it_fits(replace(delivered, payload=rewritten(frame.payload)), delivered)
        if self._variant.chooses('additional headers of a delivery', 'some'):
            added = {**ADDED_HEADERS, 'deliveryId': uuid.uuid4().hex, **headers}
            delivered = self._if_it_fits(replace(delivered, headers=added), delivered)
        self._outbox.append(delivered)

    def _if_it_fits(self, frame: Frame, other: Frame) -> Frame:
        return other if self._is_too_large(frame) else frame

    def _is_too_large(self, frame: Frame) -> bool:
        return len(wire.encoded(frame)) - wire.HEADER_BYTES > self._broker.settings['maxMessageSizeBytes']

    def unblocked(self, frame: Frame) -> None:
        """Confirms a blocked Publish that is now stored, and resumes reading."""
        self._outbox.append(Frame(wire.PUBLISH_ACK, frame.id, frame.queue))
        if self._is_blocked:
            self._is_blocked = False
            self._transport.resume_reading()
            self._broker.loop.call_soon(self.data_received, b'')

    # --- commands: each returns the payload of its answer, or None ---

    def _connect(self, frame: Frame) -> None:
        """A second Connect resets the connection."""
        try:
            self.user = self._broker.users.of(frame.headers)
        except Refusal as refusal:
            self._refused_count += 1
            how = self._variant['connection with a refused Connect']
            closes = how == 'closed' or (how == 'closed after three' and self._refused_count >= 3)
            raise Refused(refusal.args[0], closes) from refusal
        if self.user is not None and self._variant.chooses('changed rights', 'for new connections'):
            self.user = replace(self.user, entries=dict(self.user.entries))
        self._broker.session_ended(self)
        self._is_connected = True
        self._outbox.append(Frame(wire.CONNECT_ACK, str(uuid.uuid4())))

    def _disconnect(self, _frame: Frame) -> None:
        raise Refused(None, True)

    def _ping(self, frame: Frame) -> None:
        self._outbox.append(Frame(wire.PONG, frame.id))

    def _publish(self, frame: Frame) -> None:
        queue, priority = self._existing(frame), (frame.headers.get('priority') or 'normal').lower()
        if priority not in PRIORITIES:
            priority = self._variant['unknown priority'].lower()
        outcome = self._broker.publish(queue, Message(frame, PRIORITIES.index(priority), publisher=self))
        self._check(outcome == 'dropped', 'DropNewest', 'QUEUE_FULL')
        if outcome == 'blocked':
            if self._variant.chooses('connection with a blocked Publish', 'not read'):
                self._is_blocked = True
                self._transport.pause_reading()
            raise Refused(None, False)

    def _administer(self, frame: Frame) -> None:
        """The changed user's other connections may be closed, and its subscriptions ended."""
        command = wire.ADMIN[frame.command]
        try:
            payload, changed = self._broker.users.carry_out(command, frame.payload, self.user)
        except Refusal as refusal:
            raise Refused(refusal.args[0], False) from refusal
        self._answer_in_a_frame(Frame(frame.command, frame.id, payload=json_text(payload)))
        for other in [one for one in self._broker.sessions if changed is not None and one.user is not None and one.user.name == changed.name]:
            is_ended = command == 'DeleteUser' and self._variant.chooses('connections of a deleted user', 'closed')
            is_ended |= command == 'ChangePassword' and self._variant.chooses('connections after a new password', 'closed')
            other.user_changed(is_ended and other is not self)

    def user_changed(self, is_ended: bool) -> None:
        """Ends the subscriptions that the user has no right to any more, or the connection."""
        self._is_closing |= is_ended
        for queue in list(self._broker.queues.values()):
            subscription = self._subscription(queue)
            if subscription is not None and not self.user.allows('Subscribe', queue.name):
                self._broker.unsubscribe(subscription)

    def _existing(self, frame: Frame) -> Queue:
        """Returns the queue that the frame names. Creates it if auto-create is enabled."""
        queue = self._broker.queues.get(frame.queue)
        if queue is None and self._variant.chooses('creating by Publish or Subscribe', 'needs the right CreateQueue'):
            self._require('CreateQueue', frame.queue)
        if queue is None and not self._broker.settings['enableAutoCreate']:
            raise Refused('QUEUE_NOT_FOUND', False)
        return queue or self._broker.create(frame.queue, self._broker.defaults)

    def _ack(self, frame: Frame) -> None:
        named = frame.headers.get('messageId') if self._variant.chooses('header messageId of an Ack', 'read') else None
        queue = frame.queue if frame.queue and self._variant.chooses('queue of an Ack', 'read') else None
        self._broker.acknowledge(self, named or frame.id, queue)

    def _subscribe(self, frame: Frame) -> None:
        self._check(frame.queue not in self._broker.queues, 'subscribe to a missing queue', 'QUEUE_NOT_FOUND')
        queue = self._existing(frame)
        subscription = self._subscription(queue)
        self._check(subscription is not None, 'second subscribe')
        if subscription is None:
            queue.subscriptions.append(Subscription(self, frame.queue))
        self._broker.changed.add(frame.queue)

    def _unsubscribe(self, frame: Frame) -> None:
        subscription = self._subscription(self._broker.queues.get(frame.queue))
        self._check(subscription is None, 'unsubscribe without a subscription', 'QUEUE_NOT_FOUND')
        if subscription is not None:
            self._broker.unsubscribe(subscription)

    def _subscription(self, queue: Queue | None) -> Subscription | None:
        return next((one for one in (queue.subscriptions if queue else ()) if one.session is self), None)

    def _create(self, frame: Frame) -> None:
        queue, wanted, is_invalid, has_unknown = self._broker.queues.get(frame.queue), self._broker.defaults, False, False
        try:
            if frame.payload != b'':
                wanted, is_invalid, has_unknown = read_options(frame.payload, frame.queue)
        except UNREADABLE as error:
            if queue is None and self._variant.chooses('unreadable options', 'refused, queue created'):
                self._broker.create(frame.queue, self._broker.defaults)
            raise Refused('INVALID_PAYLOAD', False) from error
        self._check(is_invalid, 'invalid options', 'INVALID_PAYLOAD')
        self._check(has_unknown, 'unknown options', 'INVALID_PAYLOAD')
        if queue is None:
            self._broker.create(frame.queue, wanted)
        elif frame.payload == b'' or wanted == queue.options:
            self._check(True, 'create an existing queue', 'QUEUE_EXISTS')

    def _delete(self, frame: Frame) -> None:
        queue = self._broker.queues.get(frame.queue)
        self._check(queue is None, 'delete a missing queue', 'QUEUE_NOT_FOUND')
        if queue is not None:
            self._broker.delete(queue)

    def _list(self, frame: Frame) -> None:
        user, names = self.user, sorted(self._broker.queues, reverse=True)
        if user is not None and not user.is_superuser:
            may_list = any('ListQueues' in operations for operations in user.entries.values())
            if not may_list and self._variant.chooses('ListQueues without a right', 'Error'):
                raise Refused('NOT_AUTHORIZED', False)
            needed = OPERATIONS if may_list and self._variant.chooses('listed queues', 'of all entries') else ('ListQueues',)
            names = [name for name in names if any(user.allows(operation, name) for operation in needed)]
        self._answer_in_a_frame(Frame(wire.LIST_QUEUES, frame.id, payload=json_text(names)))

    def _answer_in_a_frame(self, answer: Frame) -> None:
        self._check(self._is_too_large(answer), 'answer that does not fit', 'MESSAGE_TOO_LARGE')
        self._outbox.append(answer)

    def _info(self, frame: Frame) -> bytes:
        queue = self._broker.queues.get(frame.queue)
        if queue is None:
            return b''
        options, ttl_s = queue.options, queue.options['messageTtl']
        has_fraction = self._variant.chooses('time spans of whole seconds', 'with a fraction')
        info = {
            'maxRetryAttempts': options['maxRetryAttempts'], 'overflowStrategy': STRATEGIES.index(options['overflowStrategy']),
            'deadLetterQueueName': options['deadLetterQueueName'], 'enableDeadLetterQueue': options['enableDeadLetterQueue'],
            'messageTtl': None if ttl_s is None else span_text(ttl_s, has_fraction), 'createdAt': queue.created_at,
            'maxSize': options['maxQueueSize'], 'deliveryMode': MODES.index(options['mode']),
            'subscriberCount': len(queue.subscriptions), 'messageCount': len(queue.waiting), 'name': queue.name,
        }
        shows_null = self._variant.chooses('properties without a value', 'null')
        return json_text({name: value for name, value in info.items() if value is not None or shows_null})
