"""Queues of the contrary broker: what waits, who gets it, and what becomes of what was sent.

A Depot holds all queues. Nothing here reads or writes bytes: a session is anything with `deliver` and `admitted`. Audiences, blocked
publishes and deliveries name their queue, so that they can outlive it. Areas: DELIVERY, OVERFLOW, RETRY, TTL, DLQ.
"""
from __future__ import annotations

import uuid
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace
from typing import Any, Deque, Dict, List, Optional, Set, Tuple

from manners import Manners
from options import (BLOCK_PUBLISHER, DROP_NEWEST, DROP_OLDEST, FAN_OUT_WITH_ACK, FAN_OUT_WITHOUT_ACK, PRIORITY_BASED, REDIRECT_TO_DLQ,
                     Options, timestamp)


@dataclass(eq=False)
class Message:
    id: str
    payload: bytes
    headers: List[Tuple[str, str]]
    priority: int
    publisher: Any
    trail: bytes = b''
    number: int = 0
    """Counts publishes: the smallest one is the oldest message."""
    born_at: float = 0.0
    failed_count: int = 0
    last_receiver: Optional[Subscription] = None
    copies: Dict[Subscription, str] = field(default_factory=dict)
    """FanOutWithAck: owed, acknowledged, failed or gone, for each member."""
    done_by: Set[Any] = field(default_factory=set)


@dataclass(eq=False)
class Subscription:
    session: Any
    queue: str
    out_count: int = 0
    owed: Deque[Message] = field(default_factory=deque)


@dataclass(eq=False)
class Delivery:
    """A message at a subscriber: sent, or resting before its next attempt."""
    message: Message
    to: Subscription
    queue: str
    holds_slot: bool = False
    is_resting: bool = False
    failed_count: int = 0
    timer: Any = None


class Queue:
    def __init__(self, name: str, options: Options, audience: List[Subscription]) -> None:
        self.name, self.options, self.audience = name, options, audience
        self.created_at = timestamp()
        self.waiting: List[Message] = []

    @property
    def is_full(self) -> bool:
        return len(self.waiting) >= self.options.max_size

    def drop_oldest(self) -> None:
        self.waiting.remove(min(self.waiting, key=lambda message: message.number))


class Depot:
    """All queues. `settled` is called whenever a timer has moved something; `pump_touched` then makes the deliveries."""

    def __init__(self, manners: Manners, settings: Any, loop: Any, settled: Any) -> None:
        self._manners, self._settings, self._loop, self._settled = manners, settings, loop, settled
        self.queues: Dict[str, Queue] = {}
        self.audiences: Dict[str, List[Subscription]] = defaultdict(list)
        self.touched: Set[str] = set()
        self.published_count = self.acknowledged_count = 0
        self._blocked: Dict[str, Deque[Tuple[Any, Message]]] = defaultdict(deque)
        self._deliveries: List[Delivery] = []

    # --- queues ---

    def make(self, name: str, options: Options) -> Queue:
        queue = self.queues[name] = Queue(name, options, self.audiences[name])
        self.touched.add(name)
        return queue

    def delete(self, queue: Queue) -> None:
        """The queue goes with what waits, its audience and its dead letters. What is in flight or blocked stays, for its next namesake."""
        del self.queues[queue.name]
        for subscription in queue.audience:
            subscription.owed.clear()
        queue.audience.clear()
        letters = self.queues.get(self._letters_name(queue)) if queue.options.dead_letters else None
        if letters is not None:
            self.delete(letters)

    # --- publishing ---

    def publish(self, queue: Queue, message: Message, session: Any) -> str:
        """What becomes of it: stored, dropped or blocked."""
        self.published_count += 1
        message.number, message.born_at = self.published_count, self._birth()
        if self._manners.takes('overflow judged', 'after delivery'):
            self._pump(queue)
        strategy = queue.options.strategy
        if strategy == BLOCK_PUBLISHER and (queue.is_full or self._blocked[queue.name]):
            self._blocked[queue.name].append((session, message))
            return 'blocked'
        if queue.is_full and strategy == DROP_NEWEST:
            return 'dropped'
        if queue.is_full and strategy == REDIRECT_TO_DLQ:
            self._dead_letter(queue, message)
            return 'stored'
        if queue.is_full:
            queue.drop_oldest()
        self._enter(queue, message)
        return 'stored'

    def _enter(self, queue: Queue, message: Message) -> None:
        same = [index for index, other in enumerate(queue.waiting) if other.publisher is message.publisher]
        in_order = self._manners.takes('order of publishers', 'as confirmed')
        queue.waiting.insert(len(queue.waiting) if in_order else same[-1] + 1 if same else 0, message)
        self.touched.add(queue.name)

    def _admit(self, queue: Queue) -> bool:
        """Lets a blocked Publish in if there is room; whether one came."""
        if queue.is_full or not self._blocked[queue.name]:
            return False
        session, message = self._blocked[queue.name].popleft()
        self._enter(queue, message)
        session.admitted(message, queue.name)
        return True

    # --- delivering ---

    def pump_touched(self) -> None:
        while self.touched:
            queue = self.queues.get(self.touched.pop())
            if queue is not None:
                self._pump(queue)

    def _pump(self, queue: Queue) -> None:
        """Delivers what can be delivered, and lets blocked publishes in for it, until nothing moves."""
        steps = {FAN_OUT_WITH_ACK: self._send_copy, FAN_OUT_WITHOUT_ACK: self._send_to_all}
        step = steps.get(queue.options.mode, self._send_to_one)
        moves = True
        while moves:
            free = [one for one in queue.audience if one.out_count < int(self._manners['window'])]
            while free and queue.waiting and self._is_expired(queue, self._next(queue)):
                queue.waiting.remove(self._next(queue))
            moves = step(queue, free) or self._admit(queue)

    def _next(self, queue: Queue) -> Message:
        if queue.options.mode != PRIORITY_BASED:
            return queue.waiting[0]
        highest = max(message.priority for message in queue.waiting)
        urgent = [message for message in queue.waiting if message.priority == highest]
        return urgent[-1 if self._manners.takes('order within a priority', 'newest first') else 0]

    def _send_to_one(self, queue: Queue, free: List[Subscription]) -> bool:
        if not queue.waiting or not free:
            return False
        message = self._next(queue)
        queue.waiting.remove(message)
        message.last_receiver = self._receiver(queue, message, free)
        self._send(Delivery(message, message.last_receiver, queue.name))
        return True

    def _receiver(self, queue: Queue, message: Message, free: List[Subscription]) -> Subscription:
        last, prefers_last = message.last_receiver, self._manners.takes('receiver of a retry', 'the same')
        preferred = [one for one in free if (one is last) == prefers_last] if last is not None else []
        backwards = self._manners.takes('order of subscribers', 'last first')
        to = (preferred or free)[-1 if backwards else 0]
        if queue.options.mode != PRIORITY_BASED or not backwards:
            queue.audience.remove(to)
            queue.audience.insert(0 if backwards else len(queue.audience), to)
        return to

    def _send_to_all(self, queue: Queue, _free: List[Subscription]) -> bool:
        if not queue.waiting or not queue.audience:
            return False
        message = queue.waiting.pop(0)
        for subscription in queue.audience:
            subscription.session.deliver(message, queue.name)
        return True

    def _send_copy(self, queue: Queue, free: List[Subscription]) -> bool:
        """One copy that is owed; else owes the next message to all that are present now, one of whom gets it at once."""
        owed_to = next((one for one in free if one.owed), None)
        if owed_to is not None:
            message = owed_to.owed.popleft()
            if self._is_expired(queue, message):
                self._end_copy(queue, message, owed_to, 'gone')
            else:
                self._send(Delivery(message, owed_to, queue.name))
            return True
        if not queue.waiting or not free:
            return False
        message = queue.waiting.pop(0)
        message.copies = {one: 'owed' for one in queue.audience if one.session not in message.done_by}
        for member in message.copies:
            member.owed.append(message)
        return True

    def _send(self, delivery: Delivery) -> None:
        if delivery not in self._deliveries:
            self._deliveries.append(delivery)
        delivery.to.out_count += 0 if delivery.holds_slot else 1
        delivery.is_resting, delivery.holds_slot = False, True
        asked_s = self._settings.ack_timeout_s
        timeout_s = {'late': asked_s + 1.2, 'early': asked_s * 0.8, 'as configured': asked_s}[self._manners['ack timeout']]
        delivery.timer = self._after(timeout_s, self._time_out, delivery)
        delivery.to.session.deliver(delivery.message, delivery.queue)

    # --- ends of deliveries ---

    def acknowledge(self, session: Any, message_id: str, queue: Optional[str]) -> None:
        """`queue`: the only one that is meant, if not None. An ack that fits nothing is ignored."""
        self.acknowledged_count += 1

        def fits(delivery: Delivery) -> bool:
            is_anybodys = self._manners.takes('whose ack', "anybody's") and not delivery.message.copies
            is_late = delivery.is_resting and self._manners.takes('ack during the pause', 'ignored')
            is_named = delivery.message.id == message_id and queue in (None, delivery.queue)
            return is_named and not is_late and (is_anybodys or delivery.to.session is session)

        fitting = [delivery for delivery in self._deliveries if fits(delivery)]
        if fitting:
            self._end(fitting[-1 if self._manners.takes('which delivery an Ack means', 'the newest') else 0], 'acknowledged')

    def _time_out(self, delivery: Delivery) -> None:
        queue, message = self.queues.get(delivery.queue), delivery.message
        delivery.failed_count += 1
        message.failed_count += 0 if message.copies else 1
        failed_count = delivery.failed_count if message.copies else message.failed_count
        if queue is None or failed_count >= queue.options.max_attempts:
            self._end(delivery, 'failed')
            return
        delivery.is_resting = True
        if self._manners.takes('slot during the pause', 'free'):
            self._free_slot(delivery)
        pause_s = self._settings.retry_delay_s * 2 ** (failed_count - 1)
        delivery.timer = self._after(pause_s, self._try_again, delivery)

    def _try_again(self, delivery: Delivery) -> None:
        queue, message = self.queues.get(delivery.queue), delivery.message
        if queue is None or not message.copies:
            self._end(delivery, 'due')
        elif self._is_expired(queue, message):
            self._end(delivery, 'failed')
        else:
            self._send(delivery)
            if self._manners.takes('retry of a copy', 'to all members'):
                for other in (one for one in queue.audience if one is not delivery.to):
                    other.session.deliver(message, queue.name)

    def unsubscribe(self, subscription: Subscription, how: str = 'given back') -> None:
        """Ends a subscription; what it has in flight is given back at once."""
        self.audiences[subscription.queue].remove(subscription)
        for message in subscription.owed:
            self._end_copy(self.queues[subscription.queue], message, subscription, 'gone')
        for delivery in [one for one in self._deliveries if one.to is subscription]:
            self._end(delivery, 'given back' if delivery.is_resting else how)

    def leave(self, session: Any) -> None:
        """The end of a connection. Its blocked publishes stay."""
        for subscription in [one for audience in self.audiences.values() for one in audience if one.session is session]:
            self.unsubscribe(subscription, 'cut short')
        for delivery in [one for one in self._deliveries if one.to.session is session]:
            self._end(delivery, 'cut short')

    def _end(self, delivery: Delivery, how: str) -> None:
        """How: acknowledged, failed (for the last time), due again, given back, or cut short by the end of its connection."""
        delivery.timer.cancel()
        self._deliveries.remove(delivery)
        self._free_slot(delivery)
        queue, message = self.queues.get(delivery.queue), delivery.message
        if queue is None or (how == 'acknowledged' and not message.copies):
            return
        if message.copies:
            self._end_copy(queue, message, delivery.to, how if how in ('acknowledged', 'failed') else 'gone')
            return
        message.failed_count += 1 if how == 'cut short' and self._manners.takes('cut short', 'a failed attempt') else 0
        if how == 'failed' or message.failed_count >= queue.options.max_attempts:
            self._give_up(queue, message)
        else:
            self._put_back(queue, message, at_front=how == 'due' and self._manners.takes('due attempt', 'at the front'))

    def _free_slot(self, delivery: Delivery) -> None:
        delivery.to.out_count -= 1 if delivery.holds_slot else 0
        delivery.holds_slot = False
        self.touched.add(delivery.queue)

    def _end_copy(self, queue: Queue, message: Message, member: Subscription, how: str) -> None:
        """When the last copy has ended: the message is given up, done, or waits again for those who have not had it."""
        message.copies[member] = how
        ends = set(message.copies.values())
        if 'owed' in ends:
            return
        is_lost = 'failed' in ends and ('acknowledged' not in ends or self._manners.takes('some copies failed', 'dead-lettered'))
        is_done = 'acknowledged' in ends and ('gone' not in ends or self._manners.takes('some copies gone', 'done'))
        message.done_by |= {one.session for one, end in message.copies.items() if end == 'acknowledged'}
        message.copies = {}
        if is_lost:
            self._give_up(queue, message)
        elif not is_done and 'failed' not in ends:
            self._put_back(queue, message)

    def _put_back(self, queue: Queue, message: Message, at_front: bool = False) -> None:
        later = [index for index, other in enumerate(queue.waiting) if other.number > message.number]
        has_old_place = later and self._manners.takes('given back', 'old place')
        queue.waiting.insert(0 if at_front else later[0] if has_old_place else len(queue.waiting), message)
        self.touched.add(queue.name)

    # --- dead letters and time ---

    def _give_up(self, queue: Queue, message: Message) -> None:
        if queue.options.dead_letters:
            self._dead_letter(queue, message)

    def _dead_letter(self, source: Queue, message: Message) -> None:
        """The letter's queue is made at need; when it is full, its own strategy says which one goes."""
        name = self._letters_name(source)
        letters = self.queues.get(name) or self.make(name, Options(mode=PRIORITY_BASED))
        letter = replace(message, failed_count=0, last_receiver=None, done_by=set())
        if self._manners.takes('content of a dead letter', 'fresh id, no headers'):
            letter.id, letter.headers = str(uuid.uuid4()), []
        if letters.is_full and letters.options.strategy != DROP_OLDEST:
            return
        if letters.is_full:
            letters.drop_oldest()
        self._enter(letters, letter)

    def _letters_name(self, source: Queue) -> str:
        is_own = self._manners.takes('generated dead letter name', 'dead.<queue>')
        return source.options.dead_letter_name or (f'dead.{source.name}' if is_own else f'{source.name}.dlq')

    def _is_expired(self, queue: Queue, message: Message) -> bool:
        return queue.options.ttl_s is not None and self._loop.time() >= message.born_at + queue.options.ttl_s

    def _birth(self) -> float:
        """The age of a message counts from a little after its acceptance."""
        return self._loop.time() + 0.9

    def _after(self, delay_s: float, call: Any, delivery: Delivery) -> Any:
        def act() -> None:
            call(delivery)
            self._settled()
        return self._loop.call_later(delay_s, act)
