// Finds capabilities that a broker announces but its target file does not declare. The report of a run notes them; they change no verdict.
// The opposite, a declared capability that is missing, is found by the checks that need it.
import type { Capability } from '../catalogue-words.ts';
import type { Pacer } from '../engine/pacer.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import type { Credentials } from '../wire/credentials.ts';
import { answersPrometheus, observeCapabilities } from './capabilities.ts';
import { surfaceAt } from './http-surfaces.ts';
import { ProbeClient } from './probe-client.ts';

export type UndeclaredSetting = {
  readonly endpoints: Endpoints;
  readonly declared: readonly Capability[];
  readonly timing: Timing;
  readonly name: string;
  /** Limits the connection rate. */
  readonly pacer: Pacer;
  readonly credentials?: Credentials;
};

/** One sentence, or an empty list. Uses at most two connections and one HTTP request; a missing answer is ignored. */
export async function undeclaredNotes(setting: UndeclaredSetting): Promise<readonly string[]> {
  const { endpoints, timing, name, pacer, credentials = {} } = setting;
  const declared = new Set(setting.declared);
  const brief = shortTiming(timing);
  const client = new ProbeClient({ tcp: endpoints.tcp, timing: brief, name, pacer, credentials });
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

/** Shorter deadlines than for a check, since no verdict depends on this observation. */
function shortTiming(timing: Timing): Timing {
  const { answerMs, connectMs, httpMs } = timing;
  return { ...timing, answerMs: answerMs / 4, connectMs: connectMs / 4, httpMs: httpMs / 4 };
}
