// The command numbers of the protocol and who may send each. Data only. Implements BODY-043; a test compares it with
// spec/tables/commands.yaml.

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

/** The number of a known command. A byte from a frame is typed `number`, because it can be any value. */
export type CommandNumber = (typeof Command)[CommandName];

/** The commands that only a broker sends; a client that sends one gets UNKNOWN_COMMAND. */
export const commandsOfBrokerOnly: ReadonlySet<number> = new Set([
  Command.ConnectAck,
  Command.Pong,
  Command.PublishAck,
  Command.SubscribeAck,
  Command.UnsubscribeAck,
  Command.Deliver,
  Command.Error,
]);

/** The commands that exist only where authorization is on. */
export const commandsOfAdministration: ReadonlySet<number> = new Set([
  Command.AdminCreateUser,
  Command.AdminDeleteUser,
  Command.AdminChangePassword,
  Command.AdminGrantPermission,
  Command.AdminRevokePermission,
  Command.AdminListUsers,
  Command.AdminGetUserPermissions,
]);

/** The commands that a client may send to any broker: all but those of the two sets above. */
export const commandsOfClient: ReadonlySet<number> = new Set(
  Object.values(Command).filter(
    (command) => !commandsOfBrokerOnly.has(command) && !commandsOfAdministration.has(command),
  ),
);

const namesByNumber: ReadonlyMap<number, CommandName> = new Map(
  Object.entries(Command).map(([name, number]) => [number, name as CommandName]),
);

/** The name of a command number (0..255), or undefined for a number that names none. */
export function commandName(command: number): CommandName | undefined {
  return namesByNumber.get(command);
}
