// Ends the parts of a broker one after another: also those after a part that cannot be ended, so that no port, file or thread stays open for it.

/**
 * Takes each step when the one before has ended or failed.
 * @throws the error of the step that failed; an AggregateError with all of them when several did
 */
export async function endAll(steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1)
    throw new AggregateError(errors, `several parts could not be closed: ${errors.map(String).join('; ')}`);
  if (errors.length === 1) throw errors[0];
}
