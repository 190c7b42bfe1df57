// `truemq admin`, and the credentials of `pub` and `sub`, against a broker with users in this process.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningBroker, startBroker } from '../server/start-broker.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { admin } from './admin.ts';
import { type Command, ExitCode } from './command.ts';
import { loadAdapterConfiguration } from './configuration-flags.ts';
import { createLogger } from './logger.ts';
import { pub } from './pub.ts';
import { sub } from './sub.ts';

const ROOT = ['--username', 'root'] as const;
const SECRET = 'root-secret';

let broker: RunningBroker;
let folder: string;
let address: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-admin-'));
  const entries = new Map<string, unknown>([
    ['port', 0],
    ['health', false],
    ['dashboard', false],
    ['rateLimit', false],
    ['superuserUsername', 'root'],
    ['superuserPassword', SECRET],
    ['authDatabasePath', ':memory:'],
    ['passwordCost', 4],
    ['authToken', 'a token of at least 32 characters'],
  ]);
  const { configuration } = loadAdapterConfiguration(entries, testCommandContext());
  const logger = createLogger({ level: 'error', format: 'json', write: () => undefined, wallNow: Date.now });
  broker = await startBroker(configuration, logger);
  address = ['--port', String(broker.tcp.port)];
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await broker.stop();
});

type Extras = {
  readonly environment?: Readonly<Record<string, string>>;
  /** What the terminal answers, in order. */
  readonly answers?: readonly string[];
};

async function run(command: Command, argv: readonly string[], { environment, answers }: Extras = {}) {
  const context = testCommandContext(environment ?? { TRUEMQ_PASSWORD: SECRET });
  const asked: string[] = [];
  if (answers !== undefined) {
    context.askSecret = async (question) => {
      asked.push(question);
      return answers[asked.length - 1] ?? '';
    };
  }
  const exitCode = await command.run([...argv, ...address], context);
  return { exitCode, output: context.output(), errors: context.errors(), asked };
}

const asRoot = (argv: readonly string[], extras?: Extras) => run(admin, [...argv, ...ROOT], extras);

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('admin', () => {
  it('creates a user, grants and shows rights, lists users, revokes and removes [CLIENT-001]', async () => {
    const password = fileWith('new-password', 'pw-ann\n');
    expect(await asRoot(['add', 'ann', '--new-password-file', password])).toMatchObject({
      exitCode: ExitCode.Done,
      errors: 'truemq: user ann created; it has no rights yet\n',
    });
    expect((await asRoot(['grant', 'ann', 'orders.*', 'publish,LISTQUEUES'])).errors).toBe(
      'truemq: user ann may now do on orders.*: Publish, ListQueues\n',
    );
    expect((await asRoot(['permissions', 'ann'])).output).toBe(
      'PATTERN   OPERATIONS\norders.*  Publish, ListQueues\n',
    );
    expect(JSON.parse((await asRoot(['permissions', 'ann', '--json'])).output)).toEqual([
      { queuePattern: 'orders.*', operations: ['Publish', 'ListQueues'] },
    ]);
    const time = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ';
    expect((await asRoot(['users'])).output).toMatch(
      new RegExp(`^USER  SUPERUSER  CREATED\nroot  yes        ${time}\nann   no         ${time}\n$`),
    );
    expect((await asRoot(['revoke', 'ann', 'orders.*'])).exitCode).toBe(ExitCode.Done);
    expect((await asRoot(['permissions', 'ann'])).output).toBe('PATTERN  OPERATIONS\n');
    expect((await asRoot(['remove', 'ann'])).errors).toBe('truemq: user ann removed\n');
    expect(await asRoot(['permissions', 'ann'])).toMatchObject({
      exitCode: ExitCode.Failed,
      output: '',
      errors: 'truemq: there is no user ann; "truemq admin users" lists them\n',
    });
  });

  it('revokes nothing by a pattern that the user does not have, and names those that it has', async () => {
    const environment = { TRUEMQ_PASSWORD: SECRET, TRUEMQ_NEW_PASSWORD: 'pw' };
    await asRoot(['add', 'shop'], { environment });
    const revoke = (user: string, pattern: string) => asRoot(['revoke', user, pattern]);
    const none = 'truemq: nothing was revoked: user shop has no pattern order.*; it has none at all\n';
    expect(await revoke('shop', 'order.*')).toMatchObject({ exitCode: ExitCode.Failed, errors: none });
    for (let number = 1; number <= 21; number += 1)
      await asRoot(['grant', 'shop', `Orders.${number}`, 'all']);
    expect(await revoke('shop', 'orders.1')).toMatchObject({
      exitCode: ExitCode.Failed,
      errors: expect.stringMatching(
        /has no pattern orders\.1; its patterns are Orders\.1, .*, Orders\.20 and 1 more\n$/,
      ),
    });
    expect(await revoke('shop', 'Orders.1')).toMatchObject({
      exitCode: ExitCode.Done,
      errors: 'truemq: user shop has no rights by the pattern Orders.1 any more\n',
    });
    const otherCase = 'truemq: there is no user Shop; is shop meant? "truemq admin users" lists them\n';
    const ofOtherCase = [await revoke('Shop', 'Orders.2'), await asRoot(['permissions', 'Shop'])];
    for (const outcome of ofOtherCase)
      expect(outcome).toMatchObject({ exitCode: ExitCode.Failed, output: '', errors: otherCase });
    expect(await revoke('shpo', 'Orders.2')).toMatchObject({
      exitCode: ExitCode.Failed,
      errors: 'truemq: there is no user shpo; "truemq admin users" lists them\n',
    });
  });

  it('lets a user change its own password and see its own rights [AUTH-038, AUTH-043]', async () => {
    await asRoot(['add', 'bob'], { environment: { TRUEMQ_PASSWORD: SECRET, TRUEMQ_NEW_PASSWORD: 'old' } });
    const asBob = (argv: readonly string[], password: string, answers?: readonly string[]) =>
      run(admin, [...argv, '--username', 'bob'], {
        environment: { TRUEMQ_PASSWORD: password },
        ...(answers === undefined ? {} : { answers }),
      });
    const changed = await asBob(['passwd', 'bob'], 'old', ['new', 'new']);
    expect(changed).toMatchObject({ exitCode: ExitCode.Done, asked: ['new password: ', 'the same again: '] });
    expect((await asBob(['permissions', 'bob'], 'new')).exitCode).toBe(ExitCode.Done);
    expect(await asBob(['permissions', 'bob'], 'old')).toMatchObject({
      exitCode: ExitCode.Failed,
      errors: expect.stringContaining('AUTH_FAILED'),
    });
    expect((await asBob(['users'], 'new')).errors).toMatch(/^truemq: NOT_AUTHORIZED.*\n.*only a superuser/);
  });

  it('says why the broker refuses', async () => {
    expect(await asRoot(['remove', 'nobody'])).toMatchObject({
      exitCode: ExitCode.Failed,
      errors: expect.stringMatching(/^truemq: USER_NOT_FOUND: .+\n$/),
    });
  });

  it.each([
    [['user'], 'did you mean users'],
    [['add'], 'USER is missing'],
    [['grant', 'ann', '*'], 'OPERATIONS is missing'],
    [['grant', 'ann', '*', 'Publish,Fly'], 'came "Fly"'],
    [['users', 'ann'], 'one argument too many'],
    [['remove', 'ann', '--json'], 'no such flag'],
    [['users', '--password', 'x'], 'no such flag'],
  ])('refuses the command line %j [CONFIG-002]', async (argv, message) => {
    await expect(run(admin, argv)).rejects.toThrow(message);
  });

  it('lists the actions when none is given [CONFIG-002]', async () => {
    await expect(admin.run([], testCommandContext())).rejects.toThrow('what to do is missing: users, add');
  });
});

describe('credentials', () => {
  it('come from a file, from the environment or from the terminal', async () => {
    const file = fileWith('password', `${SECRET}\n`);
    const environment = { TRUEMQ_PASSWORD: SECRET };
    expect((await asRoot(['users', '--password-file', file], { environment: {} })).exitCode).toBe(0);
    expect((await asRoot(['users'], { environment })).exitCode).toBe(0);
    expect(await asRoot(['users'], { environment: {}, answers: [SECRET] })).toMatchObject({
      exitCode: ExitCode.Done,
      asked: ['password of root: '],
    });
  });

  it('that are missing or cannot be read are said before anything is sent, and never shown [AUTH-054]', async () => {
    const nothing = { environment: {} };
    await expect(asRoot(['users'], nothing)).rejects.toThrow('the password is missing');
    const empty = { TRUEMQ_PASSWORD: '', TRUEMQ_NEW_PASSWORD: '', TRUEMQ_AUTH_TOKEN: '' };
    await expect(asRoot(['users'], { environment: empty })).rejects.toThrow('the password is missing');
    const emptyNew = { ...empty, TRUEMQ_PASSWORD: SECRET };
    await expect(asRoot(['add', 'eve'], { environment: emptyNew })).rejects.toThrow(
      'the new password is missing',
    );
    await expect(asRoot(['users', '--password-file', join(folder, 'none')])).rejects.toThrow(
      'cannot be read',
    );
    await expect(asRoot(['users', '--password-file', fileWith('empty', '\n')])).rejects.toThrow('is empty');
    await expect(run(admin, ['users', '--password-file', 'x'])).rejects.toThrow('needs --username');
    await expect(asRoot(['add', 'eve'], { environment: { TRUEMQ_PASSWORD: SECRET } })).rejects.toThrow(
      'the new password is missing',
    );
    const differing = asRoot(['add', 'eve'], { answers: ['one', 'two'] });
    await expect(differing).rejects.toThrow(/^the two passwords differ$/);
  });

  it('that the broker refuses or wants are explained [CLIENT-001]', async () => {
    const wrong = await asRoot(['users'], { environment: { TRUEMQ_PASSWORD: 'wrong-secret' } });
    expect(wrong.exitCode).toBe(ExitCode.Failed);
    expect(wrong.errors).toMatch(/refused: AUTH_FAILED.*\n.*is the name right/);
    expect(wrong.errors).not.toContain('wrong-secret');
    const none = await run(admin, ['users'], { environment: {} });
    expect(none.errors).toMatch(/refused: AUTH_REQUIRED.*\n.*--username with TRUEMQ_PASSWORD/);
  });

  it('let pub and sub act for a user, or with the token', async () => {
    const token = fileWith('token', 'a token of at least 32 characters\n');
    const published = await run(pub, ['q', '1', '--auth-token-file', token], { environment: {} });
    expect(published).toMatchObject({ exitCode: 0, errors: 'truemq: 1 message published to q\n' });
    expect((await run(pub, ['q', '2', ...ROOT])).exitCode).toBe(ExitCode.Done);
    const taken = await run(sub, ['q', '--count', '2'], {
      environment: { TRUEMQ_AUTH_TOKEN: 'a token of at least 32 characters' },
    });
    expect(taken.output).toBe('1\n2\n');
  });
});
