// The line that repeats a check selects it in the run that it starts, whatever the target claims.
import { describe, expect, it } from 'vitest';
import { tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import { reproduceLine } from './reproduce.ts';

const options = tinyOptions();

describe('reproduceLine', () => {
  it('names the profile where the target does not claim it', () => {
    const scenario = { id: 'DELIVERY-001b', profile: 'model' } as const;
    const named = 'truemq-conformance run --target tiny.json --profile model --only DELIVERY-001b --seed 1';
    expect(reproduceLine(scenario, options)).toBe(named);
    const full = { ...options, target: { ...tinyTarget(), profiles: ['full'] as const } };
    expect(reproduceLine(scenario, full)).toBe(named);
  });

  it('names only the check where the target claims its profile', () => {
    expect(reproduceLine({ id: 'CONN-001a', profile: 'core' }, options)).toBe(
      'truemq-conformance run --target tiny.json --only CONN-001a --seed 1',
    );
  });
});
