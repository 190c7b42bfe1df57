// The table of commands: every command except help, with its one-line summary and how to load it. Commands are loaded on demand, so that
// `truemq pub` does not read the server's modules from disk.

import type { CommandEntry } from './command.ts';

export const commands: Readonly<Record<string, CommandEntry>> = {
  serve: { summary: 'start the broker', load: async () => (await import('./serve.ts')).serve },
  config: {
    summary: 'print the effective configuration and the origin of each value',
    load: async () => (await import('./config.ts')).config,
  },
  pub: { summary: 'publish messages to a queue', load: async () => (await import('./pub.ts')).pub },
  sub: { summary: 'print the messages of a queue', load: async () => (await import('./sub.ts')).sub },
  queues: {
    summary: 'list, describe, create, delete or empty the queues of a running broker',
    load: async () => (await import('./queues.ts')).queues,
  },
  dlq: {
    summary: 'list the dead letters of a queue, or move them back',
    load: async () => (await import('./dlq.ts')).dlq,
  },
  top: {
    summary: 'show the queues of a running broker, live',
    load: async () => (await import('./top.ts')).top,
  },
  admin: {
    summary: 'show and change the users of a running broker and their rights',
    load: async () => (await import('./admin.ts')).admin,
  },
  store: {
    summary: 'check, export, import, measure or compact the file of an SQLite store',
    load: async () => (await import('./store.ts')).store,
  },
  bench: {
    summary: 'measure how many messages a running broker takes and delivers',
    load: async () => (await import('./bench.ts')).bench,
  },
  completion: {
    summary: 'print a script that completes command lines in bash, zsh or fish',
    load: async () => (await import('./completion.ts')).completionOf(commands),
  },
  adapter: {
    summary: 'start the broker for the conformance runner, using its adapter protocol',
    load: async () => (await import('./adapter.ts')).adapter,
  },
  version: { summary: 'print the version', load: async () => (await import('./version.ts')).version },
};
