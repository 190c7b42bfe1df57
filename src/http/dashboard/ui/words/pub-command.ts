// The command that publishes a first message, as it can be pasted into a shell on the broker's machine. Pure.

import { DEFAULT_PORT } from '../../../../model/default-address.ts';
import type { TcpAddress } from '../../live/live-events.ts';

/** `tcp`: where clients connect; undefined when the broker has not said so. */
export function pubCommand(queue: string, tcp: TcpAddress | undefined): string {
  const port = tcp === undefined || tcp.port === DEFAULT_PORT ? [] : [`--port ${tcp.port}`];
  const tls = tcp?.tls === true ? ['--tls'] : [];
  // What follows two dashes is no flag, whatever it begins with.
  const name = queue.startsWith('-') ? ['--', shellWord(queue)] : [shellWord(queue)];
  return ['npx truemq pub', ...port, ...tls, ...name, `'{"n":1}'`].join(' ');
}

/** The text as one word of a shell: as it is, or in quotes. */
function shellWord(text: string): string {
  return /^[\w.:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
