// The line that repeats a check selects it in the run that it starts, whatever the target claims, and that run can do what this one could.
import { describe, expect, it } from 'vitest';
import { tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import { reproduceLine } from './reproduce.ts';

const options = tinyOptions();
const claimed = { id: 'CONN-001a', profile: 'core' } as const;
const plain = 'truemq-conformance run --target tiny.json --only CONN-001a --seed 1';

describe('reproduceLine', () => {
  it('names the profile where the target does not claim it', () => {
    const scenario = { id: 'DELIVERY-001b', profile: 'model' } as const;
    const named = 'truemq-conformance run --target tiny.json --profile model --only DELIVERY-001b --seed 1';
    expect(reproduceLine(scenario, options)).toBe(named);
    const full = { ...options, target: { ...tinyTarget(), profiles: ['full'] as const } };
    expect(reproduceLine(scenario, full)).toBe(named);
  });

  it('names only the check where the target claims its profile', () => {
    expect(reproduceLine(claimed, options)).toBe(plain);
  });

  it('has the flags that the credentials were given with, and no credential of the environment', () => {
    const givenCredentials = [
      ['username', "anna o'neill"],
      ['password-file', 'secrets/anna.txt'],
    ] as const;
    const credentials = { authUsername: "anna o'neill", authPassword: 'secret', authToken: 'token' };
    expect(reproduceLine(claimed, tinyOptions({ credentials, givenCredentials }))).toBe(
      "truemq-conformance run --target tiny.json --username 'anna o'\\''neill' --password-file secrets/anna.txt --only CONN-001a --seed 1",
    );
    expect(reproduceLine(claimed, tinyOptions({ credentials }))).toBe(plain);
  });

  it('has each other flag that changes what a check does or how long it waits', () => {
    expect(reproduceLine(claimed, { ...options, wireMode: 'bytewise', timeoutScale: 2.5 })).toBe(
      `${plain} --wire bytewise --timeout-scale 2.5`,
    );
  });

  it('has none that only selects other checks, repeats them, or decides about the gate', () => {
    const others = {
      skip: ['QUEUE'],
      level: 'MUST',
      repeat: 3,
      jobs: 9,
      failFast: true,
      strict: true,
    } as const;
    expect(reproduceLine(claimed, tinyOptions(others))).toBe(plain);
  });
});
