// The protocol's constants against the tables of the specification, which the runner reads too.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ErrorCode } from '../model/error-code.ts';
import { MAX_QUEUE_NAME_LENGTH } from '../model/queue-name.ts';
import {
  Command,
  commandName,
  commandsOfAdministration,
  commandsOfBrokerOnly,
  commandsOfClient,
} from './command.ts';
import { frameHeaderBytes } from './encode.ts';
import { HeaderName } from './header-name.ts';
import { maxJsonDepth } from './json-scanner.ts';
import { defaultLimits, maxStringBytes, minMessageSizeBytes } from './limits.ts';
import { protocolVersion } from './message.ts';

describe('the tables of the specification', () => {
  it('name the same commands and senders [BODY-043]', () => {
    const { commands } = table('commands') as { readonly commands: readonly CommandRow[] };
    const entries = commands.map((row) => [row.name, row.value] as const);
    expect(Object.fromEntries(entries)).toEqual(Command);
    const brokerOnly = commands.filter((row) => !row.sentBy.includes('client')).map((row) => row.value);
    expect(new Set(brokerOnly)).toEqual(commandsOfBrokerOnly);
    const administration = commands.filter((row) => row.needs === 'authorization').map((row) => row.value);
    expect(new Set(administration)).toEqual(commandsOfAdministration);
    const others = commands.map((row) => row.value).filter((value) => !commandsOfBrokerOnly.has(value));
    expect(new Set(others.filter((value) => !commandsOfAdministration.has(value)))).toEqual(commandsOfClient);
    expect(entries.map(([, value]) => commandName(value))).toEqual(entries.map(([name]) => name));
    expect(commandName(98)).toBeUndefined();
  });

  it('name the same error codes [ERROR-003]', () => {
    const { errors } = table('errors') as { readonly errors: readonly { readonly code: string }[] };
    expect(errors.map((row) => row.code).sort()).toEqual(Object.values(ErrorCode).sort());
  });

  it('name every header of the protocol', () => {
    const { headers } = table('headers') as { readonly headers: readonly { readonly name: string }[] };
    expect(headers.map((row) => row.name)).toEqual(expect.arrayContaining(Object.values(HeaderName)));
  });

  it('name the same limits', () => {
    const limits = table('limits') as Readonly<Record<'protocol' | 'server', readonly LimitRow[]>>;
    const named = Object.fromEntries(
      [...limits.protocol, ...limits.server].map((row) => [row.name, row.default]),
    );
    expect(named).toMatchObject({
      protocolVersion,
      frameHeaderBytes,
      minBodyBytes: minMessageSizeBytes,
      maxStringBytes,
      maxIdBytes: defaultLimits.maxIdBytes,
      maxQueueNameLength: MAX_QUEUE_NAME_LENGTH,
      maxHeaderCount: defaultLimits.maxHeaderCount,
      maxHeaderValueLength: defaultLimits.maxHeaderValueLength,
      maxPayloadDepth: maxJsonDepth,
      maxMessageSize: defaultLimits.maxMessageSizeBytes,
    });
    expect(defaultLimits.maxDecompressedSizeBytes).toBe(defaultLimits.maxMessageSizeBytes);
  });
});

type LimitRow = { readonly name: string; readonly default?: unknown };

type CommandRow = {
  readonly name: string;
  readonly value: number;
  readonly sentBy: readonly string[];
  readonly needs?: string;
};

function table(name: string): unknown {
  return parse(readFileSync(new URL(`../../spec/tables/${name}.yaml`, import.meta.url), 'utf8'));
}
