// How a member of the retained-memory judge acknowledges. Keeps at most a few ids.

import type { ForgetfulClient } from './forgetful-client.ts';
import type { Acks } from './plan.ts';

const LATE_BY = 64;

export function actingMember(client: ForgetfulClient, acks: Acks): void {
  const ack = (id: string): void => client.send([{ command: 30, id }]);
  switch (acks.kind) {
    case 'none':
      return;
    case 'all':
      client.onDelivery = ack;
      return;
    case 'late':
      client.onDelivery = lately(ack);
      return;
    case 'allBut':
      client.onDelivery = allBut(acks.every, ack);
  }
}

function lately(ack: (id: string) => void): (id: string) => void {
  const waiting: string[] = [];
  return (id) => {
    waiting.push(id);
    const first = waiting.length > LATE_BY ? waiting.shift() : undefined;
    if (first !== undefined) ack(first);
  };
}

function allBut(every: number, ack: (id: string) => void): (id: string) => void {
  let count = 0;
  return (id) => {
    count += 1;
    if (count % every !== 0) ack(id);
  };
}
