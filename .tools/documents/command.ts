// The commands that a document shows, as they are to be run by a test: taken from its blocks marked `sh`, and told to use
// ports that are free now. Pure text in, text out.
import { codeBlocksOf } from '../markdown.ts';

export type Ports = { readonly tcp: number; readonly health: number; readonly dashboard: number };

export type DocumentCommand = {
  /** As the document shows it. */
  readonly shown: string;
  /** As it is run. */
  readonly run: string;
  /** The broker and subscribers go on until they are told to stop; everything else ends by itself. */
  readonly kind: 'broker' | 'subscriber' | 'ends';
};

/** The commands of a document, in order; one for each line of a block, lines that end with a backslash joined. */
export function readCommands(markdown: string, ports: Ports): readonly DocumentCommand[] {
  return codeBlocksOf(markdown, 'sh')
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((shown) => ({ shown, run: withPorts(shown, ports), kind: kindOf(shown) }));
}

function kindOf(command: string): DocumentCommand['kind'] {
  if (/^npm start\b/.test(command)) return 'broker';
  if (/^npx truemq sub\b/.test(command) && !command.includes('--count')) return 'subscriber';
  return 'ends';
}

function withPorts(command: string, { tcp, health, dashboard }: Ports): string {
  const addressed = command
    .replaceAll(':12925', `:${dashboard}`)
    .replaceAll(':2926', `:${health}`)
    .replaceAll(':2925', `:${tcp}`);
  if (/^npm start\b/.test(addressed)) {
    const separator = addressed.includes(' -- ') ? '' : ' --';
    return `${addressed}${separator} --port ${tcp} --health-port ${health} --dashboard-port ${dashboard}`;
  }
  return /\bnpx truemq (pub|sub)\b/.test(addressed) ? `${addressed} --port ${tcp}` : addressed;
}

/** The JSON texts that a command publishes: its argument, or the lines that a printf pipes into it. */
export function publishedPayloads(command: string): readonly string[] {
  const argument = /\bnpx truemq pub \S+ '([^']+)'/.exec(command)?.[1];
  if (argument !== undefined) return [argument];
  const piped = /^printf '([^']+)' \| npx truemq pub\b/.exec(command)?.[1];
  return piped === undefined ? [] : piped.split('\\n').filter((line) => line !== '');
}
