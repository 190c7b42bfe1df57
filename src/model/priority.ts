// The priorities of messages, with their numbers in stores. On the wire they go by name.

export const Priority = { Low: 0, Normal: 1, High: 2, Critical: 3 } as const;
export type Priority = (typeof Priority)[keyof typeof Priority];
export type PriorityName = keyof typeof Priority;
