// What a run of the fuzzer says: a line of figures for each target, and each failure with the frames as hex and the command that repeats it.

import type { FuzzFailure, FuzzResult } from './run-fuzz.ts';

export function resultText({ target, outcome, failures, seconds }: FuzzResult): string {
  const { frameCount, figures } = outcome;
  const memory =
    figures === undefined
      ? ''
      : `; ${mebibytes(figures.retainedGrowthBytes)} more retained, ${mebibytes(figures.residentGrowthBytes)} more resident, ` +
        `${figures.leftHandles.length} handles left, the event loop late by ${figures.maxLoopDelayMs.toFixed(0)} ms at most`;
  const line = `${target}: ${frameCount} frames in ${seconds.toFixed(1)} s${memory}\n`;
  return [line, ...failures.map(failureText)].join('');
}

export function failureText({ target, complaint, seed, frames }: FuzzFailure): string {
  const head = `FAIL ${target}${seed === undefined ? '' : ` seed ${seed}`}: ${complaint}\n`;
  if (seed === undefined) return head;
  const hex = frames.map((frame) => frame.toString('hex'));
  const again = hex.length === 0 ? `--seed ${seed} --cases 1` : hex.map((text) => `--hex ${text}`).join(' ');
  return `${head}${hex.map((text) => `     ${text}\n`).join('')}     again with: npm run fuzz -- --target ${target} ${again}\n`;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
