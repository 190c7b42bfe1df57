// The ways in which a check ends early. An ExpectationFailure is the broker's fault and becomes fail, warn or a note by the check's
// level; a PrerequisiteMissing says that the check could not be carried out here, NothingShown that it was carried out and nothing
// could be decided, RuleNotApplicable that the broker takes a permitted choice to which the rule does not apply. Everything else that
// a check throws is the runner's own fault and becomes an error, never a failure of the broker.

export type ExpectationDetail = {
  readonly expected: string;
  readonly actual: string;
  /** The requirement that was broken, where it is not the check's main one. */
  readonly clause?: string | undefined;
  /** The requirement that the step relies on at which it ended; the one broken where it is none of the check's own. */
  readonly reliesOn?: string | undefined;
  /** Other requirements whose breach would explain it. */
  readonly possibleCauses?: readonly string[];
};

export class ExpectationFailure extends Error {
  readonly expected: string;
  readonly actual: string;
  readonly clause: string | undefined;
  readonly reliesOn: string | undefined;
  readonly possibleCauses: readonly string[];

  constructor(what: string, detail: ExpectationDetail) {
    super(what);
    this.name = 'ExpectationFailure';
    this.expected = detail.expected;
    this.actual = detail.actual;
    this.clause = detail.clause;
    this.reliesOn = detail.clause ?? detail.reliesOn;
    this.possibleCauses = detail.possibleCauses ?? [];
  }
}

/** The check applies, but this target or this environment does not let it be carried out: could not run. */
export class PrerequisiteMissing extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'PrerequisiteMissing';
  }
}

/** The check was carried out, and what came decides nothing about its rule: not shown. */
export class NothingShown extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NothingShown';
  }
}

/** The broker takes a choice that the specification permits, and the rule does not apply to it: not applicable. */
export class RuleNotApplicable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'RuleNotApplicable';
  }
}

/** A value as it should stand in a report: JSON, texts quoted, long ones cut. */
export function display(value: unknown, maxLength = 400): string {
  const text = Buffer.isBuffer(value) ? `bytes ${value.toString('hex')}` : toText(value);
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}.. (${text.length} characters)`;
}

/** What JSON leaves out or writes as null, such as a header that is absent in a list of headers. */
function withoutGaps(_name: string, part: unknown): unknown {
  if (part === undefined) return 'nothing';
  return typeof part === 'number' && !Number.isFinite(part) ? 'no number' : part;
}

function toText(value: unknown): string {
  if (value === undefined) return 'nothing';
  try {
    return JSON.stringify(value, withoutGaps) ?? String(value);
  } catch {
    return String(value);
  }
}
