// Commands with actions, such as `truemq admin add`: finds the action that the first argument names.

import { didYouMean } from '../config/nearest-name.ts';
import { UsageError } from './arguments.ts';

type WithFlags = { readonly flags?: Readonly<Record<string, unknown>> };

/** What is wrong with a flag that `name` has not, if other actions have it. */
export function flagOfOtherActions(
  flag: string,
  name: string | undefined,
  actions: Readonly<Record<string, WithFlags>>,
): string | undefined {
  const owners = Object.keys(actions).filter((action) => Object.hasOwn(actions[action]?.flags ?? {}, flag));
  return owners.length === 0
    ? undefined
    : `--${flag}: no such flag of ${name}; it is one of ${owners.join(' and ')}`;
}

/** The names of the flags that each action has of its own. */
export function flagsByAction(
  actions: Readonly<Record<string, WithFlags>>,
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(actions).map(([name, { flags = {} }]) => [name, Object.keys(flags)]),
  );
}

/** @throws UsageError */
export function findAction<Action>(
  name: string | undefined,
  actions: Readonly<Record<string, Action>>,
): Action {
  const names = Object.keys(actions);
  if (name === undefined) throw new UsageError(`what to do is missing: ${names.join(', ')}`);
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return action;
  throw new UsageError(`${name}: no such action${didYouMean(name, names)}; there is ${names.join(', ')}`);
}
