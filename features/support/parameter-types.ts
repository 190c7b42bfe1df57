// The words that steps have in common: who acts, which command, how long, how large, which messages.

import { defineParameterType } from '@cucumber/cucumber';
import { Command, type CommandName } from '../../src/protocol/command.ts';
import { faultyBodyWords, faultyFrameWords } from './faulty-frames.ts';
import { DURATION_FORM, durationMs, messageIds, SIZE_FORM, sizeBytes } from './words.ts';

defineParameterType({
  name: 'client',
  regexp: /(?:the |another )?(?:publisher|subscriber|client)(?: [A-Z]\b)?/,
  transformer: (words: string) => words.replace(/^the /, ''),
});

defineParameterType({
  name: 'command',
  regexp: new RegExp(`(?:an? )?(${Object.keys(Command).join('|')})`),
  transformer: (name: string) => Command[name as CommandName],
});

defineParameterType({
  name: 'duration',
  regexp: DURATION_FORM,
  transformer: durationMs,
});

defineParameterType({
  name: 'size',
  regexp: SIZE_FORM,
  transformer: sizeBytes,
});

defineParameterType({
  name: 'messages',
  regexp: /messages? "([^"]*)"/,
  transformer: messageIds,
});

defineParameterType({
  name: 'errorCode',
  regexp: /[A-Z]+(?:_[A-Z]+)+|FORBIDDEN/,
  transformer: (code: string) => code,
});

defineParameterType({
  name: 'algorithm',
  regexp: /brotli|gzip/,
  transformer: (name: string) => name as 'brotli' | 'gzip',
});

// The longest first: one may be the beginning of another.
const anyOf = (phrases: readonly string[]): RegExp =>
  new RegExp([...phrases].sort((one, other) => other.length - one.length).join('|'));

defineParameterType({
  name: 'faultyFrame',
  regexp: anyOf(faultyFrameWords),
  transformer: (words: string) => words,
});

defineParameterType({
  name: 'faultyBody',
  regexp: anyOf(faultyBodyWords),
  transformer: (words: string) => words,
});
