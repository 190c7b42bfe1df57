// Checks that the health record is at the URL of the target, and if not, looks for it at other paths. Areas: HEALTH, HTTP.
import { bodyFieldOf, surfaceAt } from '../observation/http-surfaces.ts';
import type { Timing } from '../timing.ts';
import type { Examination } from './examination.ts';

const otherPaths = [
  '/health',
  '/',
  '/healthz',
  '/api/health',
  '/health/status',
  '/status',
  '/actuator/health',
];

/** `url`: as in the target file, with or without `/health/`. */
export async function tryHealth(url: string, timing: Timing, examination: Examination): Promise<void> {
  const base = url.replace(/\/health\/?$/, '');
  const wanted = `${base}/health/`;
  const told = await record(base, '/health/', timing);
  if (told.status !== undefined) return examination.ok('health', `${wanted} says ${told.status}`);
  for (const path of otherPaths) {
    const { status } = await record(base, path, timing);
    if (status === undefined) continue;
    const seen = `${wanted} ${told.text}, but ${base}${path} has a health record`;
    return examination.find('health', { mistake: 'health-path', seen });
  }
  examination.find('health', { mistake: 'health-path', seen: `${wanted} ${told.text}` });
}

async function record(
  base: string,
  path: string,
  timing: Timing,
): Promise<{ readonly text: string; readonly status?: string }> {
  try {
    const answer = await surfaceAt('the health server', base, timing).get(path);
    const status = bodyFieldOf(answer, 'status');
    const isRecord = (answer.status === 200 || answer.status === 503) && typeof status === 'string';
    const text = `answers ${answer.status} without a health record`;
    return isRecord ? { text, status } : { text };
  } catch {
    return { text: 'does not answer' };
  }
}
