// The line below a failure runs the same check in the same way.
import { expect, it } from 'vitest';
import { tinyOptions } from '../testing/tiny-target.ts';
import { reproduceLine } from './reproduce.ts';

const check = { id: 'FRAME-004a', profile: 'core' } as const;
const line = 'truemq-conformance run --target tiny.json';

it('names target, check and seed', () => {
  expect(reproduceLine(check, tinyOptions())).toBe(`${line} --only FRAME-004a --seed 1`);
});

it('names the flags that differ from their defaults', () => {
  const options = tinyOptions({ wireMode: 'random', timeoutScale: 2, targetPath: "it's.json" });
  expect(reproduceLine(check, options)).toBe(
    `truemq-conformance run --target 'it'\\''s.json' --only FRAME-004a --seed 1 --wire random --timeout-scale 2`,
  );
});

it('names the profile of a check that the target does not claim', () => {
  const modelCheck = { id: 'DELIVERY-001b', profile: 'model' } as const;
  expect(reproduceLine(modelCheck, tinyOptions())).toBe(
    `${line} --profile model --only DELIVERY-001b --seed 1`,
  );
});
