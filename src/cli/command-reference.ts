// The reference page of the command line: the help text of every command, with what all have in common. Pure; a test compares
// docs/reference/command-line.md with this text.

import { flagHelp } from '../config/reference.ts';

const INTRODUCTION = `# Command line

<!-- Generated from the help texts: npx truemq help --reference > docs/reference/command-line.md -->

\`truemq COMMAND --help\` prints what stands here about a command. A wrong command line is an error that names what came and what is allowed.
A flag with a value is given once, except \`--header\`: a second value is an error too.

\`\`\`text
truemq serve                                          start a broker
truemq pub orders '{"order":1}'                       publish a message
truemq sub orders --json | jq .payload                print messages as they come
truemq queues list                                    what waits where
truemq dlq requeue orders --all                       move dead letters back
eval "$(truemq completion bash)"                      complete command lines
\`\`\`

## Exit codes

| code | meaning |
|---|---|
| 0 | the command did everything that was requested. \`serve\`, \`sub\`, \`top\` and \`adapter\`: a signal stopped them |
| 1 | the broker refused, the connection failed or ended, stdout could not be written, or a part was not done; stderr says which |
| 2 | the command line or the configuration is not valid; nothing was done |
| 130 | Ctrl-C ended the command before it had done what was requested |
| 143 | SIGTERM did so |

Results go to stdout, everything else to stderr. \`--json\` prints one JSON document, and one object a line with \`pub\` and \`sub\`; names are in
camelCase, durations in milliseconds, and what there is not is \`null\`. When the reader of stdout closes the pipe, as in
\`truemq queues list | head -1\`, the command ends without a message and with 0; \`sub\` does so at the next message, which it does not
acknowledge. \`store export\` tells it and ends with 1, because a text that was cut off is no copy of the store.

## Which broker

\`pub\`, \`sub\`, \`queues\`, \`dlq\`, \`admin\` and \`bench\` connect to the broker that \`--url\` names, else \`TRUEMQ_URL\`, else to
\`127.0.0.1:2925\`. Single flags, such as \`--host\` or \`--tls\`, override what the [connection string](../../spec/client.md#connection-strings) says.
These commands do not reconnect, and create no queues: they ignore the keys of the string about that.

\`queues purge\`, \`dlq\` and \`top\` use [the dashboard](../guides/dashboard.md) of the broker, which \`--dashboard-url\` or \`TRUEMQ_DASHBOARD_URL\` names. When
the broker is not the default one, \`queues purge\` and \`dlq\` ask for its address rather than guess it, nor do they
take the dashboard of \`TRUEMQ_DASHBOARD_URL\` for that of a broker which \`--url\`, \`--host\` or \`--port\` names: give \`--dashboard-url\` then.

## Environment

| variable | meaning |
|---|---|
| \`TRUEMQ_URL\` | the connection string of the broker |
| \`TRUEMQ_DASHBOARD_URL\` | the address of its dashboard |
| \`TRUEMQ_PASSWORD\` | the password for \`--username\`, or for the name in the connection string |
| \`TRUEMQ_NEW_PASSWORD\` | the new password for \`admin add\` and \`admin passwd\` |
| \`TRUEMQ_AUTH_TOKEN\` | the token that all clients of a broker share |
| \`NO_COLOR\` | \`top\` shows no colours if it is set |
| \`NODE_EXTRA_CA_CERTS\` | a PEM file of further authorities, also for dashboards with HTTPS |

\`serve\` and \`config\` read [the configuration](configuration.md) from \`TRUEMQ_\` variables too. Other users of a machine can read the flags of a process:
a password in \`--url\` is visible to them, one in \`TRUEMQ_URL\` is not.

## Commands
`;

/** The text of docs/reference/command-line.md. `helps`: the help texts by command. */
export function commandReference(helps: ReadonlyMap<string, string>): string {
  const flags = flagHelp();
  const sections = [...helps].map(([name, help]) => {
    const isConfigured = help.includes(flags);
    const shown = isConfigured ? help.replace(flags, '').trimEnd() : help;
    const more = isConfigured ? '\nEvery key of [the configuration](configuration.md) is a flag too.\n' : '';
    return `### truemq ${name}\n\n\`\`\`text\n${shown}\n\`\`\`\n${more}`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}
