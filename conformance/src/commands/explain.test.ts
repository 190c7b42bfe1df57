// `list` and `explain` on a catalogue of their own.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { tinyCatalogue, tinyCheck } from '../testing/tiny-target.ts';
import { explainCommand } from './explain.ts';
import { listCommand } from './list.ts';

const check = tinyCheck('CONN-002z', async () => {}, {
  accepts: ['a hum'],
  evidence: { messages: 2 },
  isolation: 'fresh',
  requires: {
    capabilities: ['nack'],
    profiles: ['dashboard'],
    configuration: { limits: { maxQueues: 3 } },
  },
});
const sources = {
  catalogue: tinyCatalogue([check, tinyCheck('CONN-001a', async () => {})]),
  golden: [],
  faults: [{ id: 'conn-mute', title: 'it says nothing', mustFail: ['CONN-001a'] }],
};

function printed(command: typeof listCommand, ...args: readonly string[]): readonly string[] {
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), err: () => {}, color: false };
  expect(command(args, sources, terminal)).toBe(0);
  return lines;
}

describe('list', () => {
  it('has one line for each check, by id, and the same as JSON', () => {
    const lines = printed(listCommand);
    expect(lines).toEqual([
      'CONN-001a     MUST    core           title of CONN-001a',
      'CONN-002z     SHOULD  core           title of CONN-002z',
    ]);
    const rows = JSON.parse(printed(listCommand, '--json', '--level', 'must').join('\n')) as unknown;
    expect(rows).toEqual([{ id: 'CONN-001a', level: 'MUST', profile: 'core', title: 'title of CONN-001a' }]);
  });
});

it('list shows a check that is named, whatever its profile', () => {
  const scenario = tinyCheck('CONN-001m', async () => {}, { profile: 'model' });
  const all = { ...sources, catalogue: tinyCatalogue([check, scenario]) };
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), err: () => {}, color: false };
  expect(listCommand(['--only', 'CONN-001m'], all, terminal)).toBe(0);
  expect(lines).toEqual(['CONN-001m     MUST    model          title of CONN-001m']);
});

it('list with a target shows the checks that run on it: of what it claims, what applies and can run', () => {
  const file = join(temporaryFolder(), 'target.json');
  const endpoints = { tcp: { host: '127.0.0.1', port: 2925 } };
  const target = { schema: 1, name: 'there', lifecycle: { kind: 'attach' }, endpoints, profiles: ['core'] };
  writeFileSync(file, JSON.stringify(target));
  const pings = async () => {};
  const all = tinyCatalogue([
    tinyCheck('CONN-001a', pings),
    tinyCheck('CONN-001b', pings, { isolation: 'restart' }),
    tinyCheck('CONN-001c', pings, { profile: 'auth' }),
    tinyCheck('CONN-003a', pings, { requires: { capabilities: ['requeue'] } }),
  ]);
  const lines: string[] = [];
  const terminal = { out: (line: string) => lines.push(line), err: () => {}, color: false };
  expect(listCommand(['--target', file], { ...sources, catalogue: all }, terminal)).toBe(0);
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['CONN-001a']);
  const other = () =>
    listCommand(['--target', file, '--only', 'CONN-001c'], { ...sources, catalogue: all }, terminal);
  expect(other).toThrow(
    '--only CONN-001c matches only checks of profile auth, which the target does not claim',
  );
});

it('list refuses an argument, and says what was meant', () => {
  expect(() => printed(listCommand, 'CONN')).toThrow('list takes no argument, CONN came; list --only CONN');
});

describe('explain', () => {
  it('tells clause, accepted outcomes, needs, evidence and what makes the check fail', () => {
    const text = printed(explainCommand, 'conn-002z').join('\n');
    expect(text).toContain('CONN-002z title of CONN-002z\n  SHOULD, profile core, isolation fresh');
    expect(text).toContain('CONN-002 (SHOULD): A SHOULD.');
    expect(text).toContain('accepted: a hum');
    expect(text).toContain('needs the capabilities nack');
    expect(text).toContain('needs a broker that claims dashboard as well');
    expect(text).toContain('{"limits":{"maxQueues":3}}');
    expect(text).toContain('needs its own broker, so it could not run on an attached one');
    expect(text).toContain('again: truemq-conformance run --target FILE --profile core --only CONN-002z');
    expect(text).toContain('at least 1 assertions, 2 messages');
    expect(text).toContain('no planted fault makes it fail');
    const killed = printed(explainCommand, 'CONN-001a').join('\n');
    expect(killed).toContain('fails, as it must, when\n    it says nothing (conn-mute)');
  });

  it('takes a whole area', () => {
    expect(printed(explainCommand, 'CONN').filter((line) => line.startsWith('CONN-'))).toHaveLength(2);
  });

  it('says when a requirement has no check', () => {
    expect(() => printed(explainCommand, 'CONN-003')).toThrow('no check covers CONN-003: A MAY.');
  });
});
