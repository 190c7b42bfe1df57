// Records the steps and findings of the doctor. A finding does not end the examination; each mistake is reported once.
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

  /** Records the finding, if there is one; true if there was none. */
  note(name: string, finding: DoctorFinding | undefined): boolean {
    if (finding !== undefined) this.find(name, finding);
    return finding === undefined;
  }

  diagnosis(started: boolean, log: readonly string[]): Diagnosis {
    return { steps: this.#steps, findings: this.#findings, started, log };
  }
}
