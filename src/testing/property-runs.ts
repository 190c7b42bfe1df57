// How often the tests of a property try it. `npm run check`, which is run before each commit, sets TRUEMQ_QUICK=1 and tries each a quarter as
// often as `npm test` does.

const share = process.env['TRUEMQ_QUICK'] === '1' ? 4 : 1;

/** `full`: how often `npm test` tries it, 1 or more. */
export function runsOf(full: number): number {
  return Math.ceil(full / share);
}
