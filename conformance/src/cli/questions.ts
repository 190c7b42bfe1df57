// Questions to a person at a terminal, one line each. Only where both sides are a terminal: a pipe must never be waited for. Lines that
// were typed or pasted ahead answer the questions that come later.
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Asks and resolves with the answer without its line end; rejects when the input ends first. */
export type Ask = (question: string) => Promise<string>;

export type Conversation = {
  readonly ask: Ask;
  /** Lets go of the input, which else keeps the process alive. */
  end(): void;
};

export function conversationOn(input: Readable, output: Writable, signal: AbortSignal): Conversation {
  let lines: AsyncIterator<string> | undefined;
  const controller = new AbortController();
  const begin = (): AsyncIterator<string> => {
    const both = AbortSignal.any([signal, controller.signal]);
    return createInterface({ input, output, signal: both, historySize: 0 })[Symbol.asyncIterator]();
  };
  return {
    ask: async (question) => {
      lines ??= begin();
      output.write(question);
      const { done, value } = await lines.next();
      if (done === true) throw new Error('the input ended before the question was answered');
      return value;
    },
    end: () => controller.abort(),
  };
}
