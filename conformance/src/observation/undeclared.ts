// What a broker announces and its target file does not declare: told in the report of a run, where it changes nothing. The other way
// round, a declared capability that is not there, is found by the checks that need it.
import type { Capability } from '../catalogue-words.ts';
import type { Pacer } from '../engine/pacer.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { answersPrometheus, observeCapabilities } from './capabilities.ts';
import { surfaceAt } from './http-surfaces.ts';
import { ProbeClient } from './probe-client.ts';

export type UndeclaredSetting = {
  readonly endpoints: Endpoints;
  readonly declared: readonly Capability[];
  readonly timing: Timing;
  readonly name: string;
  /** Waits for the turn of a connection where the broker limits their rate. */
  readonly pacer: Pacer;
};

/** One sentence, or none. At most two connections and one request over HTTP; a broker that does not answer is left in peace. */
export async function undeclaredNotes(setting: UndeclaredSetting): Promise<readonly string[]> {
  const { endpoints, timing, name, pacer } = setting;
  const declared = new Set(setting.declared);
  const brief = shortTiming(timing);
  const client = new ProbeClient({ tcp: endpoints.tcp, timing: brief, name, pacer });
  try {
    const seen = [...(await observeCapabilities(client, declared))];
    const url = endpoints.health?.url.replace(/\/health\/?$/, '');
    const isPrometheusOpen = url !== undefined && !declared.has('prometheus');
    if (isPrometheusOpen && (await answersPrometheus(surfaceAt('the health server', url, brief))))
      seen.push('prometheus');
    return seen.length === 0 ? [] : [`observed but not declared: ${seen.join(', ')}`];
  } finally {
    await client.cleanUp();
  }
}

/** Nothing depends on this look, so nobody waits for it as long as for a check. */
function shortTiming(timing: Timing): Timing {
  const { answerMs, connectMs, httpMs } = timing;
  return { ...timing, answerMs: answerMs / 4, connectMs: connectMs / 4, httpMs: httpMs / 4 };
}
