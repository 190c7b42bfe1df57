// The states of one connection and every way from one to another. All that changes a state stands in this table, and the
// table does not know which side it serves: "connect" is a Connect that arrived (broker) or that was sent (client).
// Must not do anything but look up. Implements the connection states of CONN-001 to CONN-004, CONN-024.

export type SessionState = 'awaiting-connect' | 'connecting' | 'connected' | 'closed';

export type SessionOccurrence = 'connect' | 'accept' | 'refuse' | 'close';

/** State, then occurrence, to the next state. What is missing cannot happen. */
export const sessionTransitions: {
  readonly [State in SessionState]: { readonly [Occurrence in SessionOccurrence]?: SessionState };
} = {
  'awaiting-connect': { connect: 'connecting', close: 'closed' },
  connecting: { accept: 'connected', refuse: 'awaiting-connect', close: 'closed' },
  connected: { close: 'closed' },
  closed: {},
};

/** The state after an occurrence. Throws, and so changes nothing, when it cannot happen in this state: our own fault. */
export function nextSessionState(state: SessionState, occurrence: SessionOccurrence): SessionState {
  const next = sessionTransitions[state][occurrence];
  if (next === undefined) throw new Error(`A session that is ${state} cannot take "${occurrence}".`);
  return next;
}
