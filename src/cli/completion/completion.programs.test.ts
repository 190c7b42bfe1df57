// The completion scripts in real shells: what bash proposes for the beginnings of command lines; and, where they are installed, that zsh and fish read
// theirs.

import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { testCommandContext } from '../../testing/command-context.ts';
import { commands } from '../commands.ts';
import { completionOf } from '../completion.ts';

async function scriptFor(shell: string): Promise<string> {
  const context = testCommandContext();
  await completionOf(commands).run([shell], context);
  return context.output();
}

const bash = await scriptFor('bash');

/** What bash proposes for the last of these words. */
function proposals(...words: readonly string[]): readonly string[] {
  const ask = `eval "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _truemq; printf "%s\\n" "\${COMPREPLY[@]}"`;
  const argv = ['--norc', '--noprofile', '-c', ask, 'bash', 'truemq', ...words];
  const env = { ...process.env, SCRIPT: bash };
  const { stdout, stderr } = spawnSync('bash', argv, { env, encoding: 'utf8', cwd: import.meta.dirname });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('bash', () => {
  it('proposes commands', () => {
    expect(proposals('')).toEqual([...Object.keys(commands), 'help', '--help', '--version']);
    expect(proposals('co')).toEqual(['config', 'completion']);
    expect(proposals('help', 'se')).toEqual(['serve']);
  });

  it('proposes the actions of a command, then its flags', () => {
    expect(proposals('queues', '')).toEqual(['list', 'info', 'create', 'delete', 'purge']);
    expect(proposals('dlq', 're')).toEqual(['requeue']);
    expect(proposals('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(proposals('queues', 'create', 'q', '--m')).toEqual([
      '--mode',
      '--max-queue-size',
      '--message-ttl',
      '--max-retry-attempts',
    ]);
    expect(proposals('pub', 'q', '--h')).toEqual(['--header', '--host', '--help']);
  });

  it('proposes the flags of the action, and no others', () => {
    expect(proposals('admin', 'users', '--n')).toEqual([]);
    expect(proposals('admin', 'passwd', 'ann', '--n')).toEqual(['--new-password-file']);
    expect(proposals('store', 'stats', 'file', '--')).toEqual(['--json', '--help']);
    expect(proposals('store', '--')).toEqual(['--help']);
    expect(proposals('queues', 'list', '--m')).toEqual([]);
    expect(proposals('queues', 'list', '--po')).toEqual(['--port']);
  });

  it('proposes the values of a flag, also after an equals sign, and none where any is allowed', () => {
    expect(proposals('pub', 'q', '--priority', 'C')).toEqual(['Critical']);
    expect(proposals('serve', '--storage', '=', 's')).toEqual(['sqlite']);
    expect(proposals('serve', '--rate-limit', '=')).toEqual(['on', 'off']);
    expect(proposals('sub', 'q', '--count', '')).toEqual([]);
  });

  it('proposes files where a file is meant', () => {
    expect(proposals('serve', '--config', 'comp')).toEqual(['completion.programs.test.ts']);
    expect(proposals('store', 'check', 'bas')).toEqual(['bash.ts']);
  });
});

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

// These are not on every machine.
const readings: readonly (readonly [string, readonly string[]])[] = [
  ['zsh', ['-f', '-c', 'autoload -U compinit; compinit -D -u; eval "$SCRIPT"; print $_comps[truemq]']],
  ['fish', ['--no-config', '-c', 'eval $SCRIPT; complete -C "truemq completion z"']],
];

it.each(readings.filter(([shell]) => isInstalled(shell)))('%s reads its script', async (shell, argv) => {
  const env = { ...process.env, SCRIPT: await scriptFor(shell) };
  const output = execFileSync(shell, argv, { env, encoding: 'utf8' });
  expect(output.trim()).toBe(shell === 'zsh' ? '_truemq' : 'zsh');
});
