// `init`: what it writes passes the published schema and is read as it was meant, from flags and from answers; nothing is written over;
// without a terminal it says what is missing instead of waiting.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import targetSchema from '../../schemas/target.schema.json' with { type: 'json' };
import { main } from '../cli/main.ts';
import { readTarget } from '../target/target-file.ts';

let folder: string;
let out: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-init-test-'));
  out = join(folder, 'sub', 'target.yaml');
});

afterEach(() => rmSync(folder, { recursive: true }));

async function init(args: readonly string[], answers?: readonly string[]) {
  const lines = { out: [] as string[], err: [] as string[] };
  const asked: string[] = [];
  const left = [...(answers ?? [])];
  const terminal = {
    out: (line: string) => void lines.out.push(line),
    err: (line: string) => void lines.err.push(line),
    color: false,
    ...(answers === undefined
      ? {}
      : {
          ask: async (question: string) => {
            asked.push(question);
            return left.shift() ?? '';
          },
        }),
  };
  const exitCode = await main(['init', '--out', out, ...args], terminal, new AbortController().signal);
  return { exitCode, out: lines.out.join('\n'), err: lines.err.join('\n'), asked };
}

/** The file as the runner reads it, after ajv has found it valid. */
function written() {
  const text = readFileSync(out, 'utf8');
  const validate = new Ajv2020({ strict: false }).compile(targetSchema);
  validate(parse(text));
  expect(validate.errors).toBe(null);
  return readTarget(out);
}

const spawned = ['--name', 'My "Broker"', '--command', 'python3 "my adapter.py" --x'];
const attached = ['--name', 'x', '--address', '[::1]:2925', '--health', 'localhost:2926'];

describe('init with flags', () => {
  it('writes a target that an adapter starts', async () => {
    const { exitCode, out: said } = await init([
      ...spawned,
      '--profile',
      'core,delivery',
      '--capability',
      'nack',
    ]);
    expect(exitCode).toBe(0);
    expect(said).toContain(`truemq-conformance doctor --target ${out}`);
    expect(written()).toMatchObject({
      schema: 1,
      name: 'My "Broker"',
      lifecycle: { kind: 'spawn', command: ['python3', 'my adapter.py', '--x'], cwd: dirname(out) },
      profiles: ['core', 'delivery'],
      capabilities: ['nack'],
    });
  });

  it('writes a target that runs already, and keeps under the default rates', async () => {
    expect((await init(attached)).exitCode).toBe(0);
    expect(written()).toMatchObject({
      lifecycle: { kind: 'attach' },
      endpoints: { tcp: { host: '::1', port: 2925 }, health: { url: 'http://localhost:2926' } },
      profiles: ['core'],
      limits: { maxConnectionsPerIpPerWindow: 20, maxMessagesPerClientPerSecond: 1000 },
    });
  });

  it('writes a target of shell commands', async () => {
    const hooks = ['--address', '127.0.0.1:2925', '--start', 'a "b" \\', '--stop', 'c', '--crash', 'd'];
    expect((await init(['--name', 'x', ...hooks])).exitCode).toBe(0);
    expect(written().lifecycle).toMatchObject({ kind: 'hooks', start: 'a "b" \\', stop: 'c', crash: 'd' });
  });

  it('takes the defaults of everything with --yes', async () => {
    expect((await init(['--yes', '--command', 'x'])).exitCode).toBe(0);
    expect(written()).toMatchObject({ name: 'my broker', profiles: ['core'] });
  });

  it('explains every key of the schema, and links the schema', async () => {
    await init([...attached, '--start', 'a', '--stop', 'b']);
    const hooks = readFileSync(out, 'utf8');
    await init([...spawned, '--force']);
    const text = `${hooks}${readFileSync(out, 'utf8')}`;
    const keys = Object.keys(targetSchema.properties);
    const inner = targetSchema.properties.lifecycle.oneOf.flatMap(({ properties }) =>
      Object.keys(properties),
    );
    for (const key of [...keys, ...inner])
      expect(text, key).toMatch(new RegExp(`(^|[# {])\\$?${key.replace('$', '\\$')}:`, 'm'));
    const { $schema } = parse(readFileSync(out, 'utf8')) as { $schema: string };
    const linked = resolve(dirname(out), $schema);
    expect(JSON.parse(readFileSync(linked, 'utf8'))).toEqual(targetSchema);
  });
});

describe('init with answers', () => {
  it('asks for what it was not told', async () => {
    const { exitCode, asked } = await init([], ['Mine', 'spawn', 'node adapter.js', 'core, delivery']);
    expect(exitCode).toBe(0);
    expect(asked).toHaveLength(4);
    expect(written()).toMatchObject({
      name: 'Mine',
      lifecycle: { kind: 'spawn', command: ['node', 'adapter.js'] },
      profiles: ['core', 'delivery'],
    });
  });

  it('takes an empty answer for the default', async () => {
    const { exitCode } = await init([], ['', 'attach', '', '', '']);
    expect(exitCode).toBe(0);
    expect(written()).toMatchObject({
      name: 'my broker',
      lifecycle: { kind: 'attach' },
      endpoints: { tcp: { host: '127.0.0.1', port: 2925 } },
    });
  });

  it('asks nothing that a flag has told', async () => {
    const { asked } = await init([...spawned, '--profile', 'core'], []);
    expect(asked).toEqual([]);
  });
});

describe('init refuses, with exit code 2 and nothing written,', () => {
  it.each([
    [[], '--name is missing, and there is no terminal to ask on'],
    [['--yes'], '--command is missing, and it has no default'],
    [['--name', 'x'], '--command is missing'],
    [['--name', 'x', '--command', 'a', '--address', 'b'], '--command and --address do not go together'],
    [['--name', 'x', '--address', 'a:b:c'], 'a:b:c came, allowed: an address such as 127.0.0.1:2925'],
    [['--name', 'x', '--address', 'h:70000'], 'h:70000 came, allowed'],
    [['--name', 'x', '--address', 'h', '--start', 'a'], '--stop is missing'],
    [['--name', 'x', '--command', 'a "b'], 'the quote " is not closed'],
    [['--name', 'x', '--command', ' '], '--command needs a program'],
    [[...spawned, '--profile', 'cor'], '--profile: cor came, allowed: core'],
    [[...spawned, '--capability', 'nak'], '--capability: nak came, allowed: brotli, gzip, nack'],
    [['x'], 'init takes no argument, x came'],
  ])('%o', async (args, text) => {
    const { exitCode, err } = await init(args);
    expect({ exitCode, err }).toEqual({ exitCode: 2, err: expect.stringContaining(text) });
    expect(existsSync(out)).toBe(false);
  });

  it('a file that exists, unless it is forced', async () => {
    await init(spawned);
    writeFileSync(out, 'mine');
    expect(await init(spawned)).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('exists already'),
    });
    expect(readFileSync(out, 'utf8')).toBe('mine');
    expect((await init([...spawned, '--force'])).exitCode).toBe(0);
    expect(written().name).toBe('My "Broker"');
  });
});
