// The target could not be started or did not keep running: exit code 4. Not for what a broker does wrong in a check.

export type TargetFaultKind =
  /** The program of the adapter or hook does not exist or cannot be run. */
  | 'no program'
  /** The adapter ended before it answered. */
  | 'ended'
  | 'no answer'
  /** The adapter's first line is not JSON. */
  | 'no JSON'
  /** It is JSON, but not an answer of the adapter protocol. */
  | 'bad answer'
  /** The adapter refused to start. */
  | 'refused'
  | 'unreachable'
  /** A process already listens at the address of the broker. */
  | 'occupied'
  | 'hook failed';

export class TargetFault extends Error {
  readonly kind: TargetFaultKind;

  constructor(kind: TargetFaultKind, message: string) {
    super(message);
    this.name = 'TargetFault';
    this.kind = kind;
  }
}
