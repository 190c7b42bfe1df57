"""Queues of the contrary broker: waiting messages, subscriptions, deliveries and their ends.

This module does not read or write bytes. It needs of a session only `deliver`, `unblocked` and `flush`. Blocked publishes and deliveries
refer to their queue by name, because they stay when the queue is deleted. Areas: DELIVERY, OVERFLOW, RETRY, TTL, DLQ.
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
    number: int = 0  # in the order of the publishes: the oldest message has the smallest number
    ttl_starts_at: float = 0.0
    failed_count: int = 0
    last_receiver: Subscription | None = None
    copies: dict[Subscription, str] = field(default_factory=dict)  # FanOutWithAck: pending, acknowledged, failed or left (the member left)
    acknowledged_by: set[Any] = field(default_factory=set)


@dataclass(eq=False)
class Subscription:
    session: Any
    queue: str
    unsent: deque[Message] = field(default_factory=deque)
    held: dict[Delivery, None] = field(default_factory=dict)  # in the order of the first sends
    resting: set[Delivery] = field(default_factory=set)  # those held whose retry delay has not ended


@dataclass(eq=False)
class Delivery:
    """A message at a subscriber: sent, or waiting for its retry delay to end."""
    message: Message
    to: Subscription
    failed_count: int = 0
    timer: Any = None

    @property
    def is_waiting_to_retry(self) -> bool:
        return self in self.to.resting


@dataclass(eq=False)
class Queue:
    name: str
    options: dict[str, Any]
    subscriptions: list[Subscription] = field(default_factory=list)
    created_at: str = field(default_factory=timestamp)
    waiting: list[Message] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.waiting) >= self.options['maxQueueSize']


class Broker:
    """All queues and sessions. After each input and each timer, `advance` sends the deliveries or schedules them, and sends all answers."""

    def __init__(self, variant: Any, settings: dict[str, Any], loop: Any, users: Any) -> None:
        self.variant, self.settings, self.loop, self.users = variant, settings, loop, users
        self.defaults = {**DEFAULTS, 'mode': settings['deliveryMode'], 'maxQueueSize': settings['maxQueueSize']}
        self.sessions: set[Any] = set()
        self.queues: dict[str, Queue] = {}
        self.changed: set[str] = set()
        self.published_count = self.acknowledged_count = 0
        self._blocked: dict[str, deque[Message]] = defaultdict(deque)
        self._deliveries: dict[str, dict[Delivery, None]] = defaultdict(dict)  # by message id

    def advance(self, is_scheduled: bool = False) -> None:
        is_later = not is_scheduled and self.variant.chooses('deliveries', 'a moment later')
        if is_later:
            self.loop.call_later(0.03, self.advance, True)
        while self.changed and not is_later:
            queue = self.queues.get(self.changed.pop())
            if queue is not None:
                self._pump(queue)
        for session in list(self.sessions):
            session.flush()

    def _after(self, delay_s: float, call: Callable[[Delivery], None], delivery: Delivery) -> Any:
        return self.loop.call_later(delay_s, lambda: (call(delivery), self.advance()))

    def create(self, name: str, options: dict[str, Any]) -> Queue:
        queue = self.queues[name] = Queue(name, options)
        self.changed.add(name)
        return queue

    def delete(self, queue: Queue) -> None:
        """Deletes the queue with its waiting messages, its subscriptions and its dead letter queue. Messages in flight and blocked publishes stay
        and belong to the next queue of this name."""
        del self.queues[queue.name]
        dead_letter_queue = self.queues.get(self._dead_letter_name(queue))
        if queue.options['enableDeadLetterQueue'] and dead_letter_queue is not None:
            self.delete(dead_letter_queue)

    def publish(self, queue: Queue, message: Message) -> str:
        """Returns the outcome: stored, dropped or blocked. The TTL starts almost one second after acceptance."""
        self.published_count += 1
        message.number, message.ttl_starts_at = self.published_count, self.loop.time() + 0.9
        if self.variant.chooses('overflow check', 'after delivery'):
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
            self._enqueue(queue, message)
        return 'stored'

    def _enqueue(self, queue: Queue, message: Message) -> None:
        """Adds the message. A full queue drops its oldest message first."""
        if queue.is_full:
            queue.waiting.remove(min(queue.waiting, key=lambda message: message.number))
        in_order, place = self.variant.chooses('order of publishers', 'as confirmed'), len(queue.waiting)
        while not in_order and place > 0 and queue.waiting[place - 1].publisher is not message.publisher:
            place -= 1
        queue.waiting.insert(place, message)
        self.changed.add(queue.name)

    def _unblock_next(self, queue: Queue) -> bool:
        """Stores the next blocked Publish if there is room. Returns whether it did."""
        if queue.is_full or not self._blocked[queue.name]:
            return False
        message = self._blocked[queue.name].popleft()
        self._enqueue(queue, message)
        message.publisher.unblocked(message.frame)
        return True

    def _requeue(self, queue: Queue, message: Message, at_front: bool = False) -> None:
        later = [index for index, other in enumerate(queue.waiting) if other.number > message.number]
        has_old_place = later and self.variant.chooses('place of a message given back', 'old place')
        queue.waiting.insert(0 if at_front else later[0] if has_old_place else len(queue.waiting), message)
        self.changed.add(queue.name)

    def _dead_letter(self, source: Queue, message: Message) -> None:
        """Creates the dead letter queue if it is missing. When it is full, its own overflow strategy applies."""
        if not source.options['enableDeadLetterQueue']:
            return
        name = self._dead_letter_name(source)
        target = self.queues.get(name) or self.create(name, {**DEFAULTS, 'mode': 'PriorityBased'})
        letter = replace(message, failed_count=0, last_receiver=None, acknowledged_by=set())
        if self.variant.chooses('content of a dead letter', 'new id, no headers'):
            # No longer than the ids of the runner: the frame would be over the limit.
            letter.frame = replace(message.frame, id=uuid.uuid4().hex[:12], headers={})
        if not target.is_full or target.options['overflowStrategy'] == 'DropOldest':
            self._enqueue(target, letter)

    def _dead_letter_name(self, source: Queue) -> str:
        is_own = self.variant.chooses('generated dead letter name', 'dead.<queue>')
        return source.options['deadLetterQueueName'] or (f'dead.{source.name}' if is_own else f'{source.name}.dlq')

    def _pump(self, queue: Queue) -> None:
        """Sends all messages that can be delivered and stores blocked publishes, until neither is possible."""
        steps = {'FanOutWithAck': self._copy_to_all, 'FanOutWithoutAck': self._send_to_all}
        step, has_moved = steps.get(queue.options['mode'], self._send_to_one), True
        frees_slot = self.variant.chooses('window slot during the retry delay', 'free')
        while has_moved:
            free = [one for one in queue.subscriptions
                    if len(one.held) - (frees_slot and len(one.resting)) < int(self.variant['window'])]
            while free and queue.waiting and self._is_expired(queue, self._next(queue)):
                queue.waiting.remove(self._next(queue))
            next_member = next((one for one in free if one.unsent), None)
            if next_member is not None:
                message = next_member.unsent.popleft()
                if self._is_expired(queue, message):
                    self._end_copy(queue, message, next_member, 'left')
                else:
                    self._send(Delivery(message, next_member))
            elif any(one.session not in message.acknowledged_by for message in queue.waiting for one in free):
                step(queue, free)
            else:
                has_moved = self._unblock_next(queue)

    def _is_expired(self, queue: Queue, message: Message) -> bool:
        ttl_s = queue.options['messageTtl']
        return ttl_s is not None and self.loop.time() >= message.ttl_starts_at + ttl_s

    def _next(self, queue: Queue) -> Message:
        if queue.options['mode'] != 'PriorityBased':
            return queue.waiting[0]
        highest = max(message.priority for message in queue.waiting)
        urgent = [message for message in queue.waiting if message.priority == highest]
        return urgent[-1 if self.variant.chooses('order within a priority', 'newest first') else 0]

    def _send_to_one(self, queue: Queue, free: list[Subscription]) -> None:
        message = self._next(queue)
        queue.waiting.remove(message)
        last, prefers_last = message.last_receiver, self.variant.chooses('receiver of a retry', 'the same')
        preferred = [one for one in free if (one is last) == prefers_last] if last is not None else []
        backwards = self.variant.chooses('order of subscribers', 'last first')
        to = message.last_receiver = (preferred or free)[-1 if backwards else 0]
        if queue.options['mode'] != 'PriorityBased' or not backwards:
            queue.subscriptions.remove(to)
            queue.subscriptions.insert(0 if backwards else len(queue.subscriptions), to)
        self._send(Delivery(message, to))

    def _send_to_all(self, queue: Queue, _free: list[Subscription]) -> None:
        message = queue.waiting.pop(0)
        for subscription in queue.subscriptions:
            subscription.session.deliver(message.frame, queue.name)

    def _copy_to_all(self, queue: Queue, free: list[Subscription]) -> None:
        """Creates copies of the first message that a free subscriber has not acknowledged, one for each such subscriber of now."""
        message = next(one for one in queue.waiting if any(to.session not in one.acknowledged_by for to in free))
        queue.waiting.remove(message)
        message.copies = {one: 'pending' for one in queue.subscriptions if one.session not in message.acknowledged_by}
        for member in message.copies:
            member.unsent.append(message)

    def _send(self, delivery: Delivery) -> None:
        self._deliveries[delivery.message.frame.id].setdefault(delivery)
        delivery.to.held.setdefault(delivery)
        delivery.to.resting.discard(delivery)
        timeout_s = self.settings['ackTimeoutMs'] / 1000
        timeout_s = {'late': timeout_s + 1.2, 'early': timeout_s * 0.8, 'as configured': timeout_s}[self.variant['ack timeout']]
        delivery.timer = self._after(timeout_s, self._time_out, delivery)
        delivery.to.session.deliver(delivery.message.frame, delivery.to.queue)

    def acknowledge(self, session: Any, message_id: str, queue: str | None) -> None:
        """Ignores an ack that matches no delivery. If `queue` is not None, only deliveries from it match."""
        self.acknowledged_count += 1
        any_connection = self.variant.chooses('who may acknowledge', 'any connection')
        is_early_accepted = self.variant.chooses('ack during the retry delay', 'accepted')
        matching = [one for one in self._deliveries.get(message_id, ()) if queue in (None, one.to.queue)
                   and (is_early_accepted or not one.is_waiting_to_retry)
                   and (one.to.session is session or (any_connection and not one.message.copies))]
        if matching:
            self._end(matching[-1 if self.variant.chooses('which delivery an Ack means', 'the newest') else 0], 'acknowledged')

    def _time_out(self, delivery: Delivery) -> None:
        queue, counter = self.queues.get(delivery.to.queue), delivery if delivery.message.copies else delivery.message
        counter.failed_count += 1
        if queue is None or counter.failed_count >= queue.options['maxRetryAttempts']:
            self._end(delivery, 'failed')
        else:
            delivery.to.resting.add(delivery)
            self.changed.add(delivery.to.queue)
            delay_s = self.settings['retryDelayMs'] / 1000 * 2 ** (counter.failed_count - 1)
            delivery.timer = self._after(delay_s, self._retry, delivery)

    def _retry(self, delivery: Delivery) -> None:
        queue, message = self.queues.get(delivery.to.queue), delivery.message
        if queue is None or not message.copies:
            self._end(delivery, 'due')
        elif self._is_expired(queue, message):
            self._end(delivery, 'failed')
        else:
            self._send(delivery)
            others = queue.subscriptions if self.variant.chooses('retry of a copy', 'to all members') else []
            for other in (one for one in others if one is not delivery.to):
                other.session.deliver(message.frame, queue.name)

    def unsubscribe(self, subscription: Subscription, how: str = 'given back') -> None:
        """Ends a subscription: its messages in flight are given back."""
        queue = self.queues[subscription.queue]
        queue.subscriptions.remove(subscription)
        for message in subscription.unsent:
            self._end_copy(queue, message, subscription, 'left')
        for delivery in list(subscription.held):
            self._end(delivery, 'given back' if delivery.is_waiting_to_retry else how)

    def session_ended(self, session: Any) -> None:
        """Called when a connection has ended. Its blocked publishes stay."""
        for subscription in [one for queue in self.queues.values() for one in queue.subscriptions if one.session is session]:
            self.unsubscribe(subscription, 'interrupted')
        for delivery in [one for held in self._deliveries.values() for one in held if one.to.session is session]:
            self._end(delivery, 'interrupted')

    def _end(self, delivery: Delivery, how: str) -> None:
        """`how`: acknowledged, failed (the last attempt), due (the retry delay is over), given back or interrupted (no connection)."""
        delivery.timer.cancel()
        del delivery.to.held[delivery]
        delivery.to.resting.discard(delivery)
        with_id = self._deliveries[delivery.message.frame.id]
        del with_id[delivery]
        if not with_id:
            del self._deliveries[delivery.message.frame.id]
        self.changed.add(delivery.to.queue)
        queue, message = self.queues.get(delivery.to.queue), delivery.message
        if queue is not None and message.copies:
            self._end_copy(queue, message, delivery.to, how if how in ('acknowledged', 'failed') else 'left')
        elif queue is not None and how != 'acknowledged':
            message.failed_count += 1 if how == 'interrupted' and self.variant.chooses('interrupted delivery', 'a failed attempt') else 0
            if how == 'failed' or message.failed_count >= queue.options['maxRetryAttempts']:
                self._dead_letter(queue, message)
            else:
                self._requeue(queue, message, at_front=how == 'due' and self.variant.chooses('place of a retried message', 'at the front'))

    def _end_copy(self, queue: Queue, message: Message, member: Subscription, how: str) -> None:
        """When the last copy has ended, the message is dead-lettered, done, or waits again for members that have not acknowledged it."""
        message.copies[member] = how
        ends = set(message.copies.values())
        if 'pending' in ends:
            return
        is_lost = 'failed' in ends and ('acknowledged' not in ends or self.variant.chooses('some copies failed', 'dead-lettered'))
        is_done = 'acknowledged' in ends and ('left' not in ends or self.variant.chooses('some members left', 'done'))
        message.acknowledged_by |= {one.session for one, end in message.copies.items() if end == 'acknowledged'}
        message.copies = {}
        if is_lost:
            self._dead_letter(queue, message)
        elif not is_done and 'failed' not in ends:
            self._requeue(queue, message)
