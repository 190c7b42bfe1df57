// The target could not be started, or could not be kept running: exit code 4. Not for what a broker does wrong while a check talks to it.

export type TargetFaultKind =
  /** The program of the adapter or hook does not exist or cannot be run. */
  | 'no program'
  /** The adapter ended before it answered. */
  | 'ended'
  | 'no answer'
  /** The adapter's first line is not JSON. */
  | 'no JSON'
  /** It is JSON and no answer of the adapter protocol. */
  | 'bad answer'
  /** The adapter said no. */
  | 'refused'
  | 'unreachable'
  /** Somebody listens already where a hook was to start a broker. */
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
