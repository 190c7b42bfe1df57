// The loader hook of plant-on-load.mjs: gives the planted text in place of the source on disk. Node runs it in a thread of its own.
import { readFileSync } from 'node:fs';

const planted = { url: '', text: '' };

export function initialize(file) {
  const { path, text } = JSON.parse(readFileSync(file, 'utf8'));
  planted.url = new URL(`../../${path}`, import.meta.url).href;
  planted.text = text;
}

export async function load(url, context, nextLoad) {
  if (url.split('?')[0] !== planted.url) return nextLoad(url, context);
  return { format: 'module', source: planted.text, shortCircuit: true };
}
