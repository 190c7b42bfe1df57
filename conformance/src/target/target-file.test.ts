// The target file: every fault names its key, what came and what is allowed, and the published schema says the same as the reader.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import adapterSchema from '../../schemas/adapter.schema.json' with { type: 'json' };
import targetSchema from '../../schemas/target.schema.json' with { type: 'json' };
import { capabilities, profileNames } from '../catalogue-words.ts';
import { fillConfiguration } from '../configuration.ts';
import { UsageError } from '../usage-error.ts';
import type { Schema } from './schema-check.ts';
import { schemaFaults } from './schema-check.ts';
import { parseTarget, readTarget } from './target-file.ts';

const spawned = { schema: 1, name: 'x', lifecycle: { kind: 'spawn', command: ['x'] } };
const attached = {
  schema: 1,
  name: 'x',
  lifecycle: { kind: 'attach' },
  endpoints: { tcp: { host: 'h', port: 2925 } },
};

function refusal(target: unknown): string {
  try {
    parseTarget(JSON.stringify(target), 'x.json');
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
}

describe('parseTarget', () => {
  it('refuses an alias that names what it is in', () => {
    const text = 'schema: 1\nname: x\nlifecycle: &a\n  kind: *a\n';
    expect(() => parseTarget(text, 'x.yaml')).toThrow('lifecycle.kind: a value that contains itself came');
  });

  it('refuses an alias of an anchor that is not there', () => {
    expect(() => parseTarget('schema: 1\nname: *x\n', 'x.yaml')).toThrow(UsageError);
    expect(() => parseTarget('schema: 1\nname: *x\n', 'x.yaml')).toThrow(
      'x.yaml is not valid:\n  Unresolved alias',
    );
  });

  it('reads JSON and YAML', () => {
    expect(parseTarget(JSON.stringify(spawned), 'x.json')).toEqual(spawned);
    expect(parseTarget('schema: 1\nname: x\nlifecycle: {kind: spawn, command: [x]}\n', 'x.yaml')).toEqual(
      spawned,
    );
  });

  it.each<[string, unknown, string]>([
    ['a missing key', { schema: 1, lifecycle: spawned.lifecycle }, 'name is missing'],
    ['an unknown key', { ...spawned, tiemout: 1 }, 'tiemout is not known; known here: $schema, schema, name'],
    ['a wrong type', { ...spawned, name: 5 }, 'name: 5 came, allowed: a string'],
    [
      'a redaction that is no regular expression',
      { ...spawned, redactions: ['a', '('] },
      'redactions[1]: "(" came, allowed: a regular expression (Invalid regular expression',
    ],
    [
      'a profile twice',
      { ...spawned, profiles: ['core', 'tls', 'core'] },
      'profiles: "core" came more than once, allowed: once',
    ],
    [
      'a capability twice',
      { ...spawned, capabilities: ['nack', 'nack'] },
      'capabilities: "nack" came more than once, allowed: once',
    ],
    ['a wrong version', { ...spawned, schema: 2 }, 'schema: 2 came, allowed: 1'],
    [
      'a wrong kind',
      { ...spawned, lifecycle: { kind: 'start' } },
      'lifecycle.kind: "start" came, allowed: "spawn", "attach", "hooks"',
    ],
    ['no kind', { ...spawned, lifecycle: {} }, 'lifecycle.kind: nothing came, allowed: "spawn"'],
    [
      'an inner unknown key',
      { ...spawned, lifecycle: { kind: 'spawn', command: ['x'], cmd: 1 } },
      'lifecycle.cmd is not known',
    ],
    [
      'an empty command',
      { ...spawned, lifecycle: { kind: 'spawn', command: [] } },
      'lifecycle.command: [] came, allowed: at least 1 entries',
    ],
    [
      'a profile that is none',
      { ...spawned, profiles: ['core', 'cors'] },
      'profiles[1]: "cors" came, allowed: "core", "delivery"',
    ],
    [
      'a port out of range',
      { ...attached, endpoints: { tcp: { host: 'h', port: 0 } } },
      'endpoints.tcp.port: 0 came, allowed: 1 to 65535',
    ],
    [
      'a fraction',
      { ...attached, timing: { ackTimeoutMs: 0.5 } },
      'timing.ackTimeoutMs: 0.5 came, allowed: an integer',
    ],
    [
      'a wrong address',
      { ...attached, endpoints: { ...attached.endpoints, health: { url: 'h:1' } } },
      'endpoints.health.url: "h:1" came, allowed: text like ^https?://',
    ],
    [
      'attach without endpoints',
      { ...attached, endpoints: undefined },
      'needs endpoints.tcp with host and port',
    ],
    [
      'an unknown key of TLS',
      { ...attached, endpoints: { tcp: { host: 'h', port: 1, tls: { ca: 'x' } } } },
      'endpoints.tcp.tls.ca is not known',
    ],
    [
      'spawn with endpoints',
      { ...spawned, endpoints: attached.endpoints },
      'not allowed with lifecycle.kind "spawn"',
    ],
    [
      'hooks without endpoints',
      { ...attached, lifecycle: { kind: 'hooks', start: 'a', stop: 'b' }, endpoints: undefined },
      'lifecycle.kind "hooks" needs endpoints.tcp with host and port',
    ],
    [
      'a setting that hooks cannot honour',
      { ...attached, lifecycle: { kind: 'hooks', start: 'a', stop: 'b', honours: ['tmiing'] } },
      'lifecycle.honours[0]: "tmiing" came, allowed: storage, or authentication, tls',
    ],
    [
      'an environment of numbers',
      { ...spawned, lifecycle: { ...spawned.lifecycle, environment: { A: 1 } } },
      'lifecycle.environment.A: 1 came, allowed: a string',
    ],
    ['a list', [], 'the document: [] came, allowed: an object'],
  ])('refuses %s', (_name, target, text) => {
    expect(refusal(target)).toContain(text);
  });

  it('tells every fault at once', () => {
    expect(refusal({ schema: 2, lifecycle: spawned.lifecycle }).split('\n')).toHaveLength(3);
  });

  it('refuses a text that is no YAML', () => {
    expect(() => parseTarget('a: [1', 'x.yaml')).toThrow('target file x.yaml is not valid');
  });
});

describe('readTarget', () => {
  it('says which file cannot be read', () => {
    expect(() => readTarget('no/such.json')).toThrow('target file no/such.json cannot be read');
  });

  it('reads the CA file beside the target file, or says that it cannot be read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'target-'));
    try {
      const path = join(folder, 'target.json');
      const tcp = { host: 'h', port: 1, tls: { caFile: 'ca.pem' } };
      writeFileSync(path, JSON.stringify({ ...attached, endpoints: { tcp } }));
      expect(() => readTarget(path)).toThrow('endpoints.tcp.tls.caFile: ENOENT');
      writeFileSync(join(folder, 'ca.pem'), 'the authority');
      expect(readTarget(path).endpoints?.tcp.tls).toEqual({ caFile: 'ca.pem', ca: 'the authority' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('takes the working folder relative to the file: the root for the reference broker', () => {
    const path = fileURLToPath(new URL('../../targets/truemq.json', import.meta.url));
    const { lifecycle } = readTarget(path);
    const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
    expect(lifecycle).toMatchObject({ kind: 'spawn', cwd: root });
  });
});

describe('the published schemas', () => {
  it('know the same words as the runner', () => {
    const { profiles, capabilities: declared } = targetSchema.properties;
    expect(profiles.items.enum).toEqual([...profileNames]);
    expect(new Set(declared.items.enum)).toEqual(new Set(Object.keys(capabilities)));
  });

  it.each([
    ['a spawned target', spawned],
    ['an attached target', attached],
    ['no lifecycle', { schema: 1, name: 'x' }],
    ['an unknown key', { ...spawned, more: 1 }],
    ['a wrong capability', { ...spawned, capabilities: ['tea'] }],
    ['a limit of 0', { ...attached, limits: { maxConnections: 0 } }],
    ['hooks', { ...attached, lifecycle: { kind: 'hooks', start: 'a', stop: 'b', honours: ['timing'] } }],
    ['hooks without stop', { ...attached, lifecycle: { kind: 'hooks', start: 'a' } }],
  ])('are judged alike by ajv and by the runner: %s', (_name, target) => {
    const byAjv = new Ajv2020({ strict: false }).validate(targetSchema, target);
    expect(schemaFaults(targetSchema as Schema, target).length === 0).toBe(byAjv);
  });

  it('describe the line that the runner writes to an adapter', () => {
    const request = {
      authentication: { token: 't' },
      limits: { maxConnections: 3 },
      timing: { ackTimeoutMs: 500 },
    };
    const line: unknown = JSON.parse(JSON.stringify(fillConfiguration(request, '/data')));
    const schema = { $ref: '#/$defs/request', $defs: adapterSchema.$defs };
    expect(new Ajv2020({ strict: false }).validate(schema, line)).toBe(true);
    expect(schemaFaults(schema as Schema, line)).toEqual([]);
  });

  it('are the ones that the documents show', () => {
    const text = readFileSync(new URL('../../docs/adapter.md', import.meta.url), 'utf8');
    const lines = [...text.matchAll(/```json\n(.*)\n```/g)].map(
      (match) => JSON.parse(match[1] ?? '') as unknown,
    );
    expect(lines).toHaveLength(3);
    const ajv = new Ajv2020({ strict: false });
    for (const line of lines) expect(ajv.validate(adapterSchema, line)).toBe(true);
  });
});
