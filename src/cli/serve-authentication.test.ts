// `truemq serve` and `truemq config` with authentication, in process: what they print, and what they never print.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../client/index.ts';
import { parseConfigurationFile } from '../config/file.ts';
import { loadConfiguration } from '../config/load.ts';
import { newFolder } from '../storage/contract/file-place.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { ExitCode } from './command.ts';
import { config } from './config.ts';
import { serve } from './serve.ts';

const TOKEN = 'a-token-of-more-than-thirty-two-characters';
const WITHOUT_HEALTH = ['--port', '0', '--health', 'off'];
const FREE_PORTS = [...WITHOUT_HEALTH, '--dashboard', 'off'];
const WITH_DASHBOARD = [...WITHOUT_HEALTH, '--dashboard', 'on', '--dashboard-port', '0'];

let folder: string;

beforeEach(async () => {
  folder = await newFolder();
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Starts a broker, stops it when it listens, and returns what it said. */
async function serveOnce(
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  announcement: readonly string[] = ['--print-ready'],
  servers: readonly string[] = FREE_PORTS,
) {
  const context = testCommandContext(environment);
  const exit = serve.run([...announcement, ...servers, '--password-cost', '4', ...flags], context);
  await vi.waitFor(() => expect(context.output()).toContain('\n'), { timeout: 10_000 });
  context.signal('SIGTERM');
  return { exit: await exit, output: context.output(), errors: context.errors() };
}

describe('serve', () => {
  it('says nothing of its secrets, and prints one line when it listens [AUTH-054, CONFIG-008, CONFIG-015]', async () => {
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, `${TOKEN}\n`);
    const flags = ['--auth-token-file', tokenFile, '--auth-database-path', join(folder, 'auth.db')];
    const environment = { TRUEMQ_SUPERUSER_PASSWORD: 'super-secret' };
    const { exit, output, errors } = await serveOnce([...flags, '--log-level', 'debug'], environment);
    expect(exit).toBe(ExitCode.Done);
    expect(output).toMatch(/^\{"ready":true.*\}\n$/);
    expect(errors).toContain('created the superuser');
    expect(`${output}${errors}`).not.toContain(TOKEN);
    expect(`${output}${errors}`).not.toContain('super-secret');
  });

  it('shows a password that it has made itself once, beside the log [AUTH-062]', async () => {
    const flags = ['--auth-database-path', join(folder, 'auth.db'), '--log-format', 'json'];
    const first = await serveOnce(flags);
    const shown = /^truemq: created the superuser vibemq with the password ([\w-]{24})$/m;
    const [, password = ''] = shown.exec(first.errors) ?? [];
    expect(password).toHaveLength(24);
    const log = first.errors.split('\n').filter((line) => line.startsWith('{'));
    expect(log.join()).not.toContain(password);
    expect(first.output).not.toContain(password);
    const second = await serveOnce(flags);
    expect(second.errors).not.toMatch(shown);
  });

  it('has the dashboard ask for the superuser when it is to, and logs refusals, and else warns that it asks for nobody', async () => {
    const context = testCommandContext();
    const flags = ['--superuser-password', 'correct horse', '--auth-database-path', ':memory:'];
    const asking = ['--password-cost', '4', '--dashboard-authentication', 'on'];
    const argv = ['--print-ready', ...WITH_DASHBOARD, ...flags, ...asking];
    const exit = serve.run(argv, context);
    await vi.waitFor(() => expect(context.output()).toContain('\n'), { timeout: 10_000 });
    const { url } = (JSON.parse(context.output()) as { dashboard: { url: string } }).dashboard;
    const statusFor = async (credentials: string): Promise<number> => {
      const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
      return (await fetch(`${url}api/queues`, { headers: { authorization } })).status;
    };
    expect((await fetch(`${url}api/queues`)).status).toBe(401);
    expect(await statusFor('vibemq:wrong')).toBe(401);
    const guesses = Array.from({ length: 20 }, (_, index) => statusFor(`vibemq:guess ${index}`));
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
    expect(await statusFor('vibemq:correct horse')).toBe(200);
    context.signal('SIGTERM');
    await exit;
    const lines = context.errors().match(/^.*"info".*a login to the dashboard was refused.*$/gm) ?? [];
    expect(lines[0]).toMatch(/"address":"[^"]*127\.0\.0\.1".*"code":"AUTH_FAILED"/);
    // At most one in a second; of 21 refusals.
    expect(lines.length).toBeLessThan(20);
    expect(context.errors()).not.toContain('guess');
    const { errors } = await serveOnce(flags, {}, ['--print-ready'], WITH_DASHBOARD);
    expect(errors).toMatch(/"warn"[^\n]*the dashboard asks for no credentials, although clients need them/);
    expect(context.errors()).not.toContain('the dashboard asks for no credentials');
  });

  it('ends the live stream of a dashboard that asks for the superuser when its password is changed', async () => {
    const context = testCommandContext();
    const flags = ['--superuser-password', 'old', '--auth-database-path', ':memory:', '--password-cost', '4'];
    const asking = ['--dashboard-authentication', 'on'];
    const exit = serve.run(['--print-ready', ...WITH_DASHBOARD, ...flags, ...asking], context);
    await vi.waitFor(() => expect(context.output()).toContain('\n'), { timeout: 10_000 });
    const ready = JSON.parse(context.output()) as { tcp: { port: number }; dashboard: { url: string } };
    const open = (password: string) => {
      const authorization = `Basic ${Buffer.from(`vibemq:${password}`).toString('base64')}`;
      return fetch(`${ready.dashboard.url}api/events`, { headers: { authorization } });
    };
    const stream = await open('old');
    expect(stream.status).toBe(200);
    const ended = stream.text();
    const client = await connect({ port: ready.tcp.port, username: 'vibemq', password: 'old' });
    await client.changePassword('vibemq', 'new');
    expect(await ended).toMatch(/^retry: /);
    expect((await open('old')).status).toBe(401);
    await client.close();
    context.signal('SIGTERM');
    await exit;
  });

  it.each([
    [['--auth-token', TOKEN], '--auth-token-file FILE'],
    [['--auth-database-path', ':memory:', '--superuser-username', 'root'], '--username root'],
  ])('tells people how to connect: %j', async (flags, credentials) => {
    const { output } = await serveOnce(flags, {}, []);
    expect(output).toMatch(new RegExp(`truemq sub hello --port \\d+ ${credentials}\n`));
    expect(output).toMatch(new RegExp(`truemq pub hello .* --port \\d+ ${credentials}\n`));
  });

  it('warns about a short token, and about an address beyond this machine only without credentials [AUTH-058, HTTP-005]', async () => {
    const open = await serveOnce(['--host', '0.0.0.0']);
    expect(open.errors).toMatch(/"warn"[^\n]*without authentication/);
    const closed = await serveOnce(['--host', '0.0.0.0', '--auth-token', 'short']);
    expect(closed.errors).not.toContain('without authentication');
    expect(closed.errors).toMatch(/"warn"[^\n]*authToken has fewer than 32 characters/);
  });

  it('ends with one line and exit code 1 when the file of users cannot be used', async () => {
    const path = join(folder, 'auth.db');
    await writeFile(path, 'my diary'.repeat(100));
    const context = testCommandContext();
    expect(await serve.run([...FREE_PORTS, '--auth-database-path', path], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toBe(
      `truemq: the user database ${path} cannot be used: it is not an SQLite database; nothing was changed\n`,
    );
    expect(context.output()).toBe('');
  });

  it('does not start when authentication is asked for and nothing can be checked [AUTH-056]', async () => {
    const context = testCommandContext();
    await expect(serve.run([...FREE_PORTS, '--enable-authentication', 'true'], context)).rejects.toThrow(
      'allowed is authToken, superuserPassword or authDatabasePath with enableAuthentication true',
    );
  });
});

describe('config', () => {
  it('prints where a secret comes from, and not the secret [AUTH-054, CONFIG-007]', async () => {
    const context = testCommandContext({ TRUEMQ_AUTH_TOKEN: TOKEN });
    await config.run(['--superuser-password', 'super-secret'], context);
    expect(context.output()).toMatch(/^authToken: "\(hidden\)" +# environment TRUEMQ_AUTH_TOKEN$/m);
    expect(context.output()).toMatch(/^superuserPassword: "\(hidden\)" +# flag --superuser-password$/m);
    expect(context.output()).toMatch(/^enableAuthentication: true +# default$/m);
    expect(`${context.output()}${context.errors()}`).not.toMatch(/super-secret|a-token/);
  });

  it('prints a file that does not start a broker with the wrong secret, nor with none', async () => {
    const context = testCommandContext();
    await config.run(['--auth-token', TOKEN], context);
    const file = { path: 'printed.yaml', entries: parseConfigurationFile('printed.yaml', context.output()) };
    const machine = { memoryBytes: 1e9, heapLimitBytes: 1e9, isTerminal: true };
    const load = () => loadConfiguration({ flags: new Map(), environment: {}, file, machine });
    expect(load).toThrow(/^authToken \(file printed\.yaml\): \(hidden\) is what "truemq config" prints/);
  });

  it('prints a file that means the same when the secrets are in files of their own', async () => {
    const path = join(folder, 'secret');
    await writeFile(path, 'a-secret\n');
    const files = ['--auth-token-file', path, '--superuser-password-file', path];
    const context = testCommandContext();
    await config.run(
      [...files, '--tls-certificate-path', 'x.pfx', '--tls-certificate-password-file', path],
      context,
    );
    expect(context.output()).toMatch(/^# authToken: "\(hidden\)" +# file .*secret$/m);
    const printed = join(folder, 'printed.yaml');
    await writeFile(printed, context.output());
    const again = testCommandContext();
    expect(await config.run(['--config', printed], again)).toBe(ExitCode.Done);
    const withoutOrigins = (text: string) => text.replaceAll(/ +# .*$/gm, '');
    expect(withoutOrigins(again.output())).toBe(withoutOrigins(context.output()));
  });
});
