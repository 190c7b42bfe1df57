// What a user of the client library can do about each error code of the broker. Data only; spec/tables/errors.yaml says when a broker sends
// each code.

const advice: Readonly<Record<string, string>> = {
  AUTH_REQUIRED: 'Give username and password, or authToken.',
  AUTH_FAILED: 'Check username and password, or authToken.',
  NOT_AUTHENTICATED: 'Connect before sending other commands.',
  NOT_AUTHORIZED: 'Let a superuser grant the operation on this queue.',
  INVALID_MESSAGE: 'Correct the id, the queue name or the headers: they break a rule of the protocol.',
  INVALID_QUEUE: 'Give the name of a queue.',
  INVALID_PAYLOAD: 'Send one valid JSON text, or correct the options.',
  QUEUE_NOT_FOUND: 'Create the queue first.',
  QUEUE_EXISTS: 'Use the existing queue, or delete it first: a queue is never changed.',
  QUEUE_FULL: 'Publish again when subscribers have taken messages, or raise maxQueueSize.',
  RATE_LIMITED: 'Publish more slowly, or raise the rate limit of the broker.',
  CONNECTION_LIMIT: 'Close other connections, or raise maxConnections of the broker.',
  UNKNOWN_COMMAND: 'Do without this command: the broker does not serve it.',
  UNSUPPORTED_VERSION: 'Use a broker of protocol version 1.',
  MESSAGE_TOO_LARGE: 'Send a smaller message, or raise maxMessageSize of the broker.',
  MEMORY_LIMIT: 'Publish again when subscribers have taken messages, or raise maxQueuedBytes of the broker.',
  LIMIT_EXCEEDED:
    'Use fewer queues or subscriptions, or raise maxQueues or maxSubscriptionsPerConnection of the broker.',
  STORAGE_ERROR: 'Look at the log of the broker: it cannot write to its store.',
  SHUTTING_DOWN: 'Send the command again when the broker is back.',
  USER_EXISTS: 'Choose another name.',
  USER_NOT_FOUND: 'Check the name with listUsers().',
  FORBIDDEN: 'Choose another user: a superuser cannot be deleted.',
  SERVER_ERROR: 'Look at the log of the broker.',
};

/** The commands for which the broker checks or makes the hash of a password; RATE_LIMITED for one says that too many of them wait. */
const commandsWithPassword: readonly (string | undefined)[] = [
  'Connect',
  'AdminCreateUser',
  'AdminChangePassword',
];

/** LIMIT_EXCEEDED for one of these commands is of a limit that no setting raises. */
const fixedLimits: ReadonlyMap<string | undefined, string> = new Map([
  ['AdminCreateUser', 'Delete users that are not needed any more: the broker keeps no more of them.'],
  [
    'AdminGrantPermission',
    'Revoke permissions of this user, or grant patterns that match more queues: the broker keeps no more for one user.',
  ],
]);

/** One sentence; undefined for an unknown code. `command`: the name of the refused command. */
export function adviceFor(code: string, command?: string): string | undefined {
  if (code === 'RATE_LIMITED' && commandsWithPassword.includes(command))
    return 'Try again later, and log in fewer clients at a time: too many passwords wait to be checked.';
  if (code === 'UNKNOWN_COMMAND' && command?.startsWith('Admin') === true)
    return 'Start the broker with superuserPassword or authDatabasePath: without them it has no users.';
  if (code === 'LIMIT_EXCEEDED' && fixedLimits.has(command)) return fixedLimits.get(command);
  return Object.hasOwn(advice, code) ? advice[code] : undefined;
}
