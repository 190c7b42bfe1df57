// The command numbers of the protocol as the runner knows them. Written from the normative text and compared with the
// published table by a test; it shares nothing with any broker's source, because a mistake that both sides copy
// would never be seen. Areas: BODY, CONN.

export const Command = {
  Connect: 0,
  ConnectAck: 1,
  Disconnect: 2,
  Ping: 10,
  Pong: 11,
  Publish: 20,
  PublishAck: 21,
  Subscribe: 22,
  SubscribeAck: 23,
  Unsubscribe: 24,
  UnsubscribeAck: 25,
  Deliver: 26,
  Ack: 30,
  CreateQueue: 40,
  DeleteQueue: 41,
  QueueInfo: 42,
  ListQueues: 43,
  AdminCreateUser: 50,
  AdminDeleteUser: 51,
  AdminChangePassword: 52,
  AdminGrantPermission: 53,
  AdminRevokePermission: 54,
  AdminListUsers: 55,
  AdminGetUserPermissions: 56,
  Error: 99,
} as const;

export type CommandName = keyof typeof Command;

const names = new Map<number, string>(Object.entries(Command).map(([name, value]) => [value, name]));

/** The name of a command number, or `command 77` for a number that has none. */
export function commandName(command: number): string {
  return names.get(command) ?? `command ${command}`;
}
