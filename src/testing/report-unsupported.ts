// What a test says when the machine forbids what it is about. No test is skipped: it ends well, and loudly.

/** Prints what this run does not show, and why. The reason must be the machine's; a fault of the test is thrown. */
export function reportUnsupported(what: string, reason: string): void {
  process.stderr.write(`\nNOT SHOWN ON THIS MACHINE: ${what}\n  because: ${reason.trim()}\n\n`);
}
