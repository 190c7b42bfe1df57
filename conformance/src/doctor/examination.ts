// The doctor's book: what was done step by step, and the findings. A step that finds something does not end the examination unless it
// says so; what was found once is not told again.
import type { Diagnosis, DoctorFinding, ExaminationStep } from './finding.ts';

export class Examination {
  readonly #steps: ExaminationStep[] = [];
  readonly #findings: DoctorFinding[] = [];

  ok(name: string, text: string): void {
    this.#steps.push({ name, outcome: 'ok', text });
  }

  skip(name: string, text: string): void {
    this.#steps.push({ name, outcome: 'skipped', text });
  }

  find(name: string, finding: DoctorFinding): void {
    this.#steps.push({ name, outcome: 'found', text: finding.seen });
    if (this.#findings.every(({ mistake }) => mistake !== finding.mistake)) this.#findings.push(finding);
  }

  /** Notes a finding where there is one, and says whether there was none. */
  note(name: string, finding: DoctorFinding | undefined): boolean {
    if (finding !== undefined) this.find(name, finding);
    return finding === undefined;
  }

  diagnosis(started: boolean, log: readonly string[]): Diagnosis {
    return { steps: this.#steps, findings: this.#findings, started, log };
  }
}
