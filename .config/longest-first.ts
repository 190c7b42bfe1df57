// The order in which files of tests start: those that take longest first, so that at the end no core waits for a long one. Vitest knows how long
// they took only where they ran before, which is not so in a fresh clone.
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Ends of paths, the longest first. A file that is missing here runs after these. */
const longest: readonly string[] = [
  'doctor.programs.test.ts',
  'suite.programs.test.ts',
  'hostile.programs.test.ts',
  'stranger.programs.test.ts',
  'adapters.programs.test.ts',
  'connection-supply.programs.test.ts',
  'exit-codes.programs.test.ts',
  'null-brokers.programs.test.ts',
  'doctor-slow-broker.programs.test.ts',
  'crash.programs.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    return [...others].sort((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
  return rank < 0 ? longest.length : rank;
}
