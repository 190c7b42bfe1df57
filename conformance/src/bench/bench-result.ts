// The results of a measurement, as they are written to a file and compared later: per row one target under one load, with a value
// for every round. Absolute figures belong to one machine at one hour; what is kept of the rounds is what lets them
// be compared all the same. The form is published: schemas/bench.schema.json.
import { arch, availableParallelism, loadavg, platform } from 'node:os';
import type { MetricName, Reading } from './metrics.ts';

export type BenchRow = {
  readonly job: string;
  /** The load in words: `1024 B`. Rows of equal job and load are compared. */
  readonly load: string;
  readonly target: string;
  /** The load of the same target that this one is held against; absent: the same load of the first target. */
  readonly baseLoad?: string;
  /** One entry per round; null where the round failed. */
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
  /** Why rounds failed: `round 2: ..`. */
  readonly faults: readonly string[];
};

export type BenchResult = {
  readonly schema: 1;
  readonly runner: { readonly name: string; readonly version: string };
  readonly at: string;
  readonly machine: {
    readonly cores: number;
    readonly node: string;
    readonly platform: string;
    readonly arch: string;
    /** The load average when the measurement began; above 0 means that other programs were running. */
    readonly loadAverage: number;
  };
  readonly commit?: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly targets: readonly { readonly name: string; readonly version?: string }[];
  readonly rows: readonly BenchRow[];
};

export type RowKey = Pick<BenchRow, 'job' | 'load' | 'target' | 'baseLoad'>;

/** Collects readings round by round. */
export class ResultCollector {
  readonly #rows = new Map<string, BenchRow>();

  get rows(): readonly BenchRow[] {
    return [...this.#rows.values()];
  }

  get hasFaults(): boolean {
    return this.rows.some(({ faults }) => faults.length > 0);
  }

  add(key: RowKey, round: number, reading: Reading): void {
    const row = this.#rowOf(key);
    const values = { ...row.values };
    for (const [name, value] of Object.entries(reading)) {
      values[name] = withRound(values[name] ?? [], round, value);
    }
    this.#set(key, { ...row, values });
  }

  fail(key: RowKey, round: number, reason: string): void {
    const row = this.#rowOf(key);
    this.#set(key, { ...row, faults: [...row.faults, `round ${round + 1}: ${reason}`] });
  }

  #rowOf(key: RowKey): BenchRow {
    return this.#rows.get(textOf(key)) ?? { ...key, values: {}, faults: [] };
  }

  #set(key: RowKey, row: BenchRow): void {
    this.#rows.set(textOf(key), row);
  }
}

export function machineFacts(): BenchResult['machine'] {
  return {
    cores: availableParallelism(),
    node: process.version,
    platform: platform(),
    arch: arch(),
    loadAverage: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

/** A value of a row, all rounds; empty when the row has none of that name. */
export function roundsOf(row: BenchRow, name: MetricName | string): readonly (number | null)[] {
  return row.values[name] ?? [];
}

function withRound(
  rounds: readonly (number | null)[],
  round: number,
  value: number | undefined,
): readonly (number | null)[] {
  const filled = Array.from({ length: Math.max(rounds.length, round + 1) }, (_, i) => rounds[i] ?? null);
  return filled.with(round, value ?? null);
}

function textOf({ job, load, target }: RowKey): string {
  return JSON.stringify([job, load, target]);
}
