// The errors that end a check early. ExpectationFailure: the broker is wrong; the outcome is fail, warn or a note, depending on the level
// of the check. PrerequisiteMissing: the check cannot run on this target. NothingShown: the check ran and could decide nothing.
// RuleNotApplicable: the broker made a permitted choice to which the rule does not apply. Any other error is a fault of the runner, and
// the outcome is error.

export type ExpectationDetail = {
  readonly expected: string;
  readonly actual: string;
  /** The requirement that was broken, if it is not the check's main one. */
  readonly clause?: string | undefined;
  /** The requirement that the failed step relies on. If it is not one of the check's own, it is the one that was broken. */
  readonly reliesOn?: string | undefined;
  /** Other requirements that would explain the failure if the broker breaks them. */
  readonly possibleCauses?: readonly string[];
  /** The MUST that what came breaks by itself, whatever the step and the level of the check: it is then the clause, and the check fails. */
  readonly broken?: string | undefined;
};

export class ExpectationFailure extends Error {
  readonly expected: string;
  readonly actual: string;
  readonly clause: string | undefined;
  readonly reliesOn: string | undefined;
  readonly possibleCauses: readonly string[];
  readonly broken: string | undefined;

  constructor(what: string, detail: ExpectationDetail) {
    super(what);
    this.name = 'ExpectationFailure';
    this.expected = detail.expected;
    this.actual = detail.actual;
    this.broken = detail.broken;
    this.clause = detail.broken ?? detail.clause;
    this.reliesOn = detail.broken ?? detail.clause ?? detail.reliesOn;
    this.possibleCauses = detail.possibleCauses ?? [];
  }
}

/** The check applies, but cannot run on this target or in this environment: could not run. */
export class PrerequisiteMissing extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PrerequisiteMissing';
  }
}

/** The check ran, and its observations do not decide its rule: not shown. */
export class NothingShown extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NothingShown';
  }
}

/** The broker made a choice that the specification permits, and the rule does not apply to this choice: not applicable. */
export class RuleNotApplicable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'RuleNotApplicable';
  }
}

/** A value as text for a report: JSON, with texts in quotes. Longer texts are truncated to `maxLength`. */
export function display(value: unknown, maxLength = 400): string {
  const text = Buffer.isBuffer(value) ? `bytes ${value.toString('hex')}` : toText(value);
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}.. (${text.length} characters)`;
}

/** Replaces values that JSON omits or writes as null, for example an absent header in a list of headers. */
function replaceMissing(_name: string, part: unknown): unknown {
  if (part === undefined) return 'nothing';
  return typeof part === 'number' && !Number.isFinite(part) ? 'not a number' : part;
}

function toText(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    return JSON.stringify(value, replaceMissing) ?? String(value);
  } catch {
    return String(value);
  }
}
