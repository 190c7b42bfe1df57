// Reports a test that this machine does not support. The test is not skipped: it passes, with a message on stderr.

/** Prints what this run does not show, and why. For limits of the machine only; throw for a fault of the test. */
export function reportUnsupported(what: string, reason: string): void {
  process.stderr.write(`\nNOT SHOWN ON THIS MACHINE: ${what}\n  because: ${reason.trim()}\n\n`);
}
