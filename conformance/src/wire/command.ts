// The command numbers of the protocol. Written from the specification and compared with the published table by a test. Shares no source
// with any broker, because no check would find an error that both sides copied. Areas: BODY, CONN.

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

export const adminCommands = [
  'AdminCreateUser',
  'AdminDeleteUser',
  'AdminChangePassword',
  'AdminGrantPermission',
  'AdminRevokePermission',
  'AdminListUsers',
  'AdminGetUserPermissions',
] as const satisfies readonly CommandName[];
export type AdminCommandName = (typeof adminCommands)[number];

const names = new Map<number, string>(Object.entries(Command).map(([name, value]) => [value, name]));

/** The name of a command number, or for example `command 77` for an unknown number. */
export function commandName(command: number): string {
  return names.get(command) ?? `command ${command}`;
}
