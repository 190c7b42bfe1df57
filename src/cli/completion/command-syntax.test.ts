// The syntax of commands as their help texts have it: the form of the texts, and that every flag in them exists.

import { describe, expect, it } from 'vitest';
import { testCommandContext } from '../../testing/command-context.ts';
import { connectionFlags } from '../broker-address.ts';
import type { Command } from '../command.ts';
import { commands } from '../commands.ts';
import { dashboardFlags } from '../dashboard/dashboard-address.ts';
import { queueFlags } from '../queues/queue-flags.ts';
import { type CommandSyntax, commandSyntax } from './command-syntax.ts';

const help = `usage: truemq thing list [--long]
       truemq thing read FILE

Does things.

  list  lists them
  read  reads one

  --long          all about it
  --mode A|B
                  how it is done
  --output FILE   where to write
  --count N       how many`;

const loaded = await Promise.all(
  Object.entries(commands).map(async ([name, { summary, load }]) => {
    const command = await load();
    return { name, command, syntax: commandSyntax(name, summary, command.help, command.actionFlags) };
  }),
);

describe('a help text', () => {
  it('says what actions and flags there are, and what values', () => {
    const all = ['list', 'read'];
    expect(commandSyntax('thing', 'about', help, { list: ['long'], read: [] })).toEqual({
      name: 'thing',
      about: 'about',
      actions: [
        { name: 'list', about: 'lists them' },
        { name: 'read', about: 'reads one' },
      ],
      flags: [
        { name: 'long', about: 'all about it', value: 'none', actions: ['list'] },
        { name: 'mode', about: 'how it is done', value: ['A', 'B'], actions: all },
        { name: 'output', about: 'where to write', value: 'file', actions: all },
        { name: 'count', about: 'how many', value: 'free', actions: all },
        { name: 'help', about: 'print the help of this command', value: 'none' },
      ],
      takesFile: true,
    });
  });

  it('has a line for each flag of the tables', () => {
    const namesOf = (name: string) =>
      loaded.find((one) => one.name === name)?.syntax.flags.map((flag) => flag.name);
    for (const name of ['pub', 'sub', 'queues', 'dlq', 'admin'])
      expect(namesOf(name), name).toEqual(expect.arrayContaining(Object.keys(connectionFlags)));
    for (const name of ['queues', 'dlq', 'top'])
      expect(namesOf(name), name).toEqual(expect.arrayContaining(Object.keys(dashboardFlags)));
    expect(namesOf('queues')).toEqual(expect.arrayContaining(Object.keys(queueFlags)));
  });
});

describe.each(loaded)('the help of $name', ({ command, syntax }) => {
  it('explains each action and each flag', () => {
    for (const { name, about } of [...syntax.actions, ...syntax.flags]) expect(about, name).not.toBe('');
  });

  it('has only flags that the command accepts', async () => {
    const lines = await Promise.all(syntax.flags.map((flag) => refusals(command, syntax, flag)));
    for (const [index, messages] of lines.entries())
      expect(new Set(messages), syntax.flags[index]?.name).toEqual(new Set(['--no-such: no such flag']));
  });
});

/** The messages about a command line with this flag, and one that no command has, for each action that has the flag. */
function refusals(
  command: Command,
  { actions: all }: CommandSyntax,
  { name, value, actions = all.map((action) => action.name) }: CommandSyntax['flags'][number],
) {
  const flag =
    value === 'none' ? [`--${name}`] : [`--${name}`, typeof value === 'string' ? '1' : (value[0] ?? '')];
  const starts = actions.length === 0 ? [[]] : actions.map((action) => [action]);
  return Promise.all(
    starts.map(async (start) => {
      const run = command.run([...start, ...flag, '--no-such'], testCommandContext());
      return run.then(String, (error: Error) => error.message);
    }),
  );
}
