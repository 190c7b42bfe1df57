// Ends a test that this machine does not support: it needs a program that is not installed, or a right that nobody has here. It counts
// neither as passed nor as failed but as not shown, which fails in continuous integration.
import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why this machine cannot show what the test shows. .tools/runner/count.ts reads it. */
    notShown?: string;
  }
}

/** Ends the test. For limits of the machine only; throw for a fault of the test. */
export function notShown({ task, skip }: TestContext, reason: string): never {
  task.meta.notShown = reason.trim();
  return skip(`not shown on this machine: ${reason.trim()}`);
}
