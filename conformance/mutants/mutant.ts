// A planted fault: one change to the reference broker's source that breaks one rule. It is applied to a copy in memory, so the
// broker carries no switch for it. It proves that the checks it names can fail; a check that no mutant kills is one that
// might not be able to. Data only.

export type Mutant = {
  /** `<area>-<what>`, kebab-case: `delivery-acks-at-once`. */
  readonly id: string;
  /** What is wrong with this broker, in words that follow "when": `a Pong carries an id of its own`. */
  readonly title: string;
  /** The file, from the root of the repository: `src/broker/queue.ts`. */
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Checks that must not pass. */
  readonly mustFail: readonly [string, ...string[]];
  /** The only other checks that may fail too. */
  readonly mayFail?: readonly string[];
};
