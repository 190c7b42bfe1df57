// Asks a person at a terminal, one line for each question. Only if input and output are terminals, so that it never waits for a pipe. Lines
// typed or pasted ahead answer later questions.
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Asks and resolves with the answer without its line end; rejects if the input ends first. */
export type Ask = (question: string) => Promise<string>;

export type Conversation = {
  readonly ask: Ask;
  /** Closes the input, which would keep the process alive. */
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
