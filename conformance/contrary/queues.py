"""Queues of the contrary broker: what waits, who gets it, and what becomes of what was sent.

Nothing here reads or writes bytes: a session is anything with `deliver`, `admitted` and `flush`. Blocked publishes and deliveries
name their queue, so that they can outlive it. Areas: DELIVERY, OVERFLOW, RETRY, TTL, DLQ.
"""
from __future__ import annotations

import uuid
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from typing import Any, Callable

from wire import DEFAULTS, Frame, timestamp


@dataclass(eq=False)
class Message:
    frame: Frame
    priority: int
    publisher: Any
    number: int = 0  # counts publishes: the smallest one is the oldest message
    born_at: float = 0.0
    failed_count: int = 0
    last_receiver: Subscription | None = None
    copies: dict[Subscription, str] = field(default_factory=dict)  # FanOutWithAck: owed, acknowledged, failed or gone
    done_by: set[Any] = field(default_factory=set)


@dataclass(eq=False)
class Subscription:
    session: Any
    queue: str
    owed: deque[Message] = field(default_factory=deque)
    held: dict[Delivery, None] = field(default_factory=dict)  # in the order in which they were first sent


@dataclass(eq=False)
class Delivery:
    """A message at a subscriber: sent, or resting before its next attempt."""
    message: Message
    to: Subscription
    is_resting: bool = False
    failed_count: int = 0
    timer: Any = None


@dataclass(eq=False)
class Queue:
    name: str
    options: dict[str, Any]
    audience: list[Subscription] = field(default_factory=list)
    created_at: str = field(default_factory=timestamp)
    waiting: list[Message] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.waiting) >= self.options['maxQueueSize']


class Broker:
    """All queues and sessions. After each piece of input and each timer `settle` makes the deliveries, or plans them, and sends all answers."""

    def __init__(self, manners: Any, settings: dict[str, Any], loop: Any) -> None:
        self.manners, self.settings, self.loop = manners, settings, loop
        self.defaults = {**DEFAULTS, 'mode': settings['deliveryMode'], 'maxQueueSize': settings['maxQueueSize']}
        self.sessions: set[Any] = set()
        self.queues: dict[str, Queue] = {}
        self.touched: set[str] = set()
        self.published_count = self.acknowledged_count = 0
        self._blocked: dict[str, deque[Message]] = defaultdict(deque)
        self._deliveries: dict[str, dict[Delivery, None]] = defaultdict(dict)  # by message id

    def settle(self, is_due: bool = False) -> None:
        is_early = not is_due and self.manners.takes('deliveries', 'a moment later')
        if is_early:
            self.loop.call_later(0.03, self.settle, True)
        while self.touched and not is_early:
            queue = self.queues.get(self.touched.pop())
            if queue is not None:
                self._pump(queue)
        for session in list(self.sessions):
            session.flush()

    def _after(self, delay_s: float, call: Callable[[Delivery], None], delivery: Delivery) -> Any:
        return self.loop.call_later(delay_s, lambda: (call(delivery), self.settle()))

    def make(self, name: str, options: dict[str, Any]) -> Queue:
        queue = self.queues[name] = Queue(name, options)
        self.touched.add(name)
        return queue

    def delete(self, queue: Queue) -> None:
        """The queue goes with what waits, its audience and its dead letters. What is in flight or blocked stays, for its next namesake."""
        del self.queues[queue.name]
        letters = self.queues.get(self._letters_name(queue)) if queue.options['enableDeadLetterQueue'] else None
        if letters is not None:
            self.delete(letters)

    def publish(self, queue: Queue, message: Message) -> str:
        """What becomes of it: stored, dropped or blocked. Its age counts from a little after its acceptance."""
        self.published_count += 1
        message.number, message.born_at = self.published_count, self.loop.time() + 0.9
        if self.manners.takes('overflow judged', 'after delivery'):
            self._pump(queue)
        strategy = queue.options['overflowStrategy']
        if strategy == 'BlockPublisher' and (queue.is_full or self._blocked[queue.name]):
            self._blocked[queue.name].append(message)
            return 'blocked'
        if strategy == 'DropNewest' and queue.is_full:
            return 'dropped'
        if strategy == 'RedirectToDlq' and queue.is_full:
            self._dead_letter(queue, message)
        else:
            self._enter(queue, message)
        return 'stored'

    def _enter(self, queue: Queue, message: Message) -> None:
        """Into a full queue at the cost of its oldest message."""
        if queue.is_full:
            queue.waiting.remove(min(queue.waiting, key=lambda message: message.number))
        same = [index for index, other in enumerate(queue.waiting) if other.publisher is message.publisher]
        in_order = self.manners.takes('order of publishers', 'as confirmed')
        queue.waiting.insert(len(queue.waiting) if in_order else same[-1] + 1 if same else 0, message)
        self.touched.add(queue.name)

    def _admit(self, queue: Queue) -> bool:
        """Lets a blocked Publish in if there is room; whether one came."""
        if queue.is_full or not self._blocked[queue.name]:
            return False
        message = self._blocked[queue.name].popleft()
        self._enter(queue, message)
        message.publisher.admitted(message.frame)
        return True

    def _put_back(self, queue: Queue, message: Message, at_front: bool = False) -> None:
        later = [index for index, other in enumerate(queue.waiting) if other.number > message.number]
        has_old_place = later and self.manners.takes('given back', 'old place')
        queue.waiting.insert(0 if at_front else later[0] if has_old_place else len(queue.waiting), message)
        self.touched.add(queue.name)

    def _dead_letter(self, source: Queue, message: Message) -> None:
        """The letter's queue is made at need; when it is full, its own strategy says which one goes."""
        if not source.options['enableDeadLetterQueue']:
            return
        name = self._letters_name(source)
        letters = self.queues.get(name) or self.make(name, {**DEFAULTS, 'mode': 'PriorityBased'})
        letter = replace(message, failed_count=0, last_receiver=None, done_by=set())
        if self.manners.takes('content of a dead letter', 'fresh id, no headers'):
            letter.frame = replace(message.frame, id=str(uuid.uuid4()), headers={})
        if not letters.is_full or letters.options['overflowStrategy'] == 'DropOldest':
            self._enter(letters, letter)

    def _letters_name(self, source: Queue) -> str:
        is_own = self.manners.takes('generated dead letter name', 'dead.<queue>')
        return source.options['deadLetterQueueName'] or (f'dead.{source.name}' if is_own else f'{source.name}.dlq')

    def _pump(self, queue: Queue) -> None:
        """Delivers what can be delivered, and lets blocked publishes in for it, until nothing moves."""
        steps = {'FanOutWithAck': self._owe_to_all, 'FanOutWithoutAck': self._send_to_all}
        step, moves = steps.get(queue.options['mode'], self._send_to_one), True
        rests_free = self.manners.takes('slot during the pause', 'free')
        while moves:
            free = [one for one in queue.audience
                    if len(one.held) - (rests_free and sum(held.is_resting for held in one.held)) < int(self.manners['window'])]
            while free and queue.waiting and self._is_expired(queue, self._next(queue)):
                queue.waiting.remove(self._next(queue))
            owed_to = next((one for one in free if one.owed), None)
            if owed_to is not None:
                message = owed_to.owed.popleft()
                if self._is_expired(queue, message):
                    self._end_copy(queue, message, owed_to, 'gone')
                else:
                    self._send(Delivery(message, owed_to))
            elif free and queue.waiting:
                step(queue, free)
            else:
                moves = self._admit(queue)

    def _is_expired(self, queue: Queue, message: Message) -> bool:
        ttl_s = queue.options['messageTtl']
        return ttl_s is not None and self.loop.time() >= message.born_at + ttl_s

    def _next(self, queue: Queue) -> Message:
        if queue.options['mode'] != 'PriorityBased':
            return queue.waiting[0]
        highest = max(message.priority for message in queue.waiting)
        urgent = [message for message in queue.waiting if message.priority == highest]
        return urgent[-1 if self.manners.takes('order within a priority', 'newest first') else 0]

    def _send_to_one(self, queue: Queue, free: list[Subscription]) -> None:
        message = self._next(queue)
        queue.waiting.remove(message)
        last, prefers_last = message.last_receiver, self.manners.takes('receiver of a retry', 'the same')
        preferred = [one for one in free if (one is last) == prefers_last] if last is not None else []
        backwards = self.manners.takes('order of subscribers', 'last first')
        to = message.last_receiver = (preferred or free)[-1 if backwards else 0]
        if queue.options['mode'] != 'PriorityBased' or not backwards:
            queue.audience.remove(to)
            queue.audience.insert(0 if backwards else len(queue.audience), to)
        self._send(Delivery(message, to))

    def _send_to_all(self, queue: Queue, _free: list[Subscription]) -> None:
        message = queue.waiting.pop(0)
        for subscription in queue.audience:
            subscription.session.deliver(message.frame, queue.name)

    def _owe_to_all(self, queue: Queue, _free: list[Subscription]) -> None:
        """A copy to each that is present now and has not had it."""
        message = queue.waiting.pop(0)
        message.copies = {one: 'owed' for one in queue.audience if one.session not in message.done_by}
        for member in message.copies:
            member.owed.append(message)

    def _send(self, delivery: Delivery) -> None:
        self._deliveries[delivery.message.frame.id].setdefault(delivery)
        delivery.to.held.setdefault(delivery)
        delivery.is_resting = False
        timeout_s = self.settings['ackTimeoutMs'] / 1000
        timeout_s = {'late': timeout_s + 1.2, 'early': timeout_s * 0.8, 'as configured': timeout_s}[self.manners['ack timeout']]
        delivery.timer = self._after(timeout_s, self._time_out, delivery)
        delivery.to.session.deliver(delivery.message.frame, delivery.to.queue)

    def acknowledge(self, session: Any, message_id: str, queue: str | None) -> None:
        """`queue`: the only one that is meant, if not None. An ack that fits nothing is ignored."""
        self.acknowledged_count += 1
        is_anybodys, is_early = self.manners.takes('whose ack', "anybody's"), self.manners.takes('ack during the pause', 'counts')
        fitting = [one for one in self._deliveries.get(message_id, ()) if queue in (None, one.to.queue)
                   and (is_early or not one.is_resting) and (one.to.session is session or (is_anybodys and not one.message.copies))]
        if fitting:
            self._end(fitting[-1 if self.manners.takes('which delivery an Ack means', 'the newest') else 0], 'acknowledged')

    def _time_out(self, delivery: Delivery) -> None:
        queue, counter = self.queues.get(delivery.to.queue), delivery if delivery.message.copies else delivery.message
        counter.failed_count += 1
        if queue is None or counter.failed_count >= queue.options['maxRetryAttempts']:
            self._end(delivery, 'failed')
        else:
            delivery.is_resting = True
            self.touched.add(delivery.to.queue)
            pause_s = self.settings['retryDelayMs'] / 1000 * 2 ** (counter.failed_count - 1)
            delivery.timer = self._after(pause_s, self._try_again, delivery)

    def _try_again(self, delivery: Delivery) -> None:
        queue, message = self.queues.get(delivery.to.queue), delivery.message
        if queue is None or not message.copies:
            self._end(delivery, 'due')
        elif self._is_expired(queue, message):
            self._end(delivery, 'failed')
        else:
            self._send(delivery)
            others = queue.audience if self.manners.takes('retry of a copy', 'to all members') else []
            for other in (one for one in others if one is not delivery.to):
                other.session.deliver(message.frame, queue.name)

    def unsubscribe(self, subscription: Subscription, how: str = 'given back') -> None:
        """Ends a subscription; what it has in flight is given back at once."""
        queue = self.queues[subscription.queue]
        queue.audience.remove(subscription)
        for message in subscription.owed:
            self._end_copy(queue, message, subscription, 'gone')
        for delivery in list(subscription.held):
            self._end(delivery, 'given back' if delivery.is_resting else how)

    def leave(self, session: Any) -> None:
        """The end of a connection. Its blocked publishes stay."""
        for subscription in [one for queue in self.queues.values() for one in queue.audience if one.session is session]:
            self.unsubscribe(subscription, 'cut short')
        for delivery in [one for held in self._deliveries.values() for one in held if one.to.session is session]:
            self._end(delivery, 'cut short')

    def _end(self, delivery: Delivery, how: str) -> None:
        """How: acknowledged, failed (for the last time), due again, given back, or cut short by the end of its connection."""
        delivery.timer.cancel()
        del delivery.to.held[delivery]
        with_id = self._deliveries[delivery.message.frame.id]
        del with_id[delivery]
        if not with_id:
            del self._deliveries[delivery.message.frame.id]
        self.touched.add(delivery.to.queue)
        queue, message = self.queues.get(delivery.to.queue), delivery.message
        if queue is not None and message.copies:
            self._end_copy(queue, message, delivery.to, how if how in ('acknowledged', 'failed') else 'gone')
        elif queue is not None and how != 'acknowledged':
            message.failed_count += 1 if how == 'cut short' and self.manners.takes('cut short', 'a failed attempt') else 0
            if how == 'failed' or message.failed_count >= queue.options['maxRetryAttempts']:
                self._dead_letter(queue, message)
            else:
                self._put_back(queue, message, at_front=how == 'due' and self.manners.takes('due attempt', 'at the front'))

    def _end_copy(self, queue: Queue, message: Message, member: Subscription, how: str) -> None:
        """When the last copy has ended: the message is given up, done, or waits again for those who have not had it."""
        message.copies[member] = how
        ends = set(message.copies.values())
        if 'owed' in ends:
            return
        is_lost = 'failed' in ends and ('acknowledged' not in ends or self.manners.takes('some copies failed', 'dead-lettered'))
        is_done = 'acknowledged' in ends and ('gone' not in ends or self.manners.takes('some copies gone', 'done'))
        message.done_by |= {one.session for one, end in message.copies.items() if end == 'acknowledged'}
        message.copies = {}
        if is_lost:
            self._dead_letter(queue, message)
        elif not is_done and 'failed' not in ends:
            self._put_back(queue, message)
