// Which commands of a document are run, and how.
import { describe, expect, it } from 'vitest';
import { publishedPayloads, readCommands } from './command.ts';

const ports = { tcp: 4001, health: 4002, dashboard: 4003 };
const block = (...lines: readonly string[]): string =>
  ['Text', '```sh', ...lines, '```', 'more', ''].join('\n');

describe('the commands of a document', () => {
  it('are those in blocks marked sh, in order', () => {
    const text = `${block('echo 1', '# why', '', 'echo 2')}\n\`\`\`yaml\na: 1\n\`\`\`\n${block('echo 3')}`;
    expect(readCommands(text, ports).map((command) => command.run)).toEqual(['echo 1', 'echo 2', 'echo 3']);
  });

  it.each([
    ['npm start', 'broker', 'npm start -- --port 4001 --health-port 4002 --dashboard-port 4003'],
    [
      'npm start -- --log-level debug',
      'broker',
      'npm start -- --log-level debug --port 4001 --health-port 4002 --dashboard-port 4003',
    ],
    ['npx truemq sub hello', 'subscriber', 'npx truemq sub hello --port 4001'],
    ['npx truemq sub hello --count 2', 'ends', 'npx truemq sub hello --count 2 --port 4001'],
    ["npx truemq pub hello '1'", 'ends', "npx truemq pub hello '1' --port 4001"],
    ["printf '1' | npx truemq pub hello", 'ends', "printf '1' | npx truemq pub hello --port 4001"],
    ['curl -s http://127.0.0.1:2926/health/', 'ends', 'curl -s http://127.0.0.1:4002/health/'],
    ['npx truemq-conformance list', 'ends', 'npx truemq-conformance list'],
  ])('run on free ports: %s', (shown, kind, run) => {
    expect(readCommands(block(shown), ports)).toEqual([{ shown, kind, run }]);
  });

  it('publish what the subscribers must show', () => {
    expect(publishedPayloads(`npx truemq pub hello '{"n":1}' --header a=b`)).toEqual(['{"n":1}']);
    expect(publishedPayloads(`printf '{"n":1}\\n{"n":2}\\n' | npx truemq pub hello`)).toEqual([
      '{"n":1}',
      '{"n":2}',
    ]);
    expect(publishedPayloads('npx truemq sub hello')).toEqual([]);
  });
});
