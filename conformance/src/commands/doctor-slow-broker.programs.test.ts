// The doctor at brokers that are slow: it must say so, and the scale that it names must be enough. The deadlines are a tenth of the usual
// ones, so that this is shown without much patience.
import { describe, expect, it } from 'vitest';
import { examine } from '../doctor/examine.ts';
import { doctor, targetWith } from '../testing/doctor.ts';
import { timingFor } from '../timing.ts';

const { signal } = new AbortController();

describe('doctor', () => {
  it('names an answer that is too slow, and a scale that is enough', async () => {
    const { exitCode, named, text } = await doctor(targetWith('slow-answer'), '0.1');
    expect({ exitCode, named }, text).toEqual({ exitCode: 1, named: ['too-slow'] });
    expect(text).toMatch(/seen: .*use --timeout-scale/);
    expect(text).toContain('  do:   ');
    const scale = Number(/use --timeout-scale (\d+(?:\.\d+)?)/.exec(text)?.[1]);
    const timing = timingFor(scale);
    const { findings } = await examine({
      target: targetWith('slow-answer'),
      timing,
      timeoutScale: scale,
      signal,
    });
    expect(findings).toEqual([]);
  });

  it('names a start that is too slow', async () => {
    const timing = { ...timingFor(0.1), startMs: 500 };
    const { findings } = await examine({
      target: targetWith('slow-start'),
      timing,
      timeoutScale: 0.1,
      signal,
    });
    expect(findings).toEqual([{ mistake: 'too-slow', seen: expect.stringMatching(/^the start took/) }]);
  });
});
