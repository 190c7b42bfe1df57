// Limits the size of the contrary broker, so that it does not grow into a second reference broker.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const folder = new URL('../contrary/', import.meta.url);
const maxLines = 1200;

function lineCount(name: string): number {
  return readFileSync(new URL(name, folder), 'utf8').split('\n').length - 1;
}

describe('the contrary broker', () => {
  it('has fewer than 1,200 lines without its tests, comments and empty lines included', () => {
    const modules = readdirSync(folder).filter((name) => name.endsWith('.py') && name !== 'unittests.py');
    expect(modules).toContain('adapter.py');
    const lines = modules.map(lineCount).reduce((sum, count) => sum + count, 0);
    expect(lines, `${modules.join(', ')} together`).toBeLessThan(maxLines);
  });
});
