// Ids are permanent: the committed list contains every check, and the rules find each mistake in a list.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checks } from '../src/checks/index.ts';
import { publishedFaults, readIds, unlistedIds, writtenIds } from './published-ids.ts';

const committed = readIds(readFileSync(new URL('../ids.txt', import.meta.url), 'utf8'));
const check = (id: string): { readonly id: string } => ({ id });

describe('the committed list', () => {
  it('contains no removed check, and no withdrawn check that exists again', () => {
    expect(publishedFaults(committed, checks)).toEqual([]);
  });

  it('names every check', () => {
    const unlisted = unlistedIds(committed, checks);
    const advice = `run: node --import tsx conformance/selftest/ids.ts --write (it adds ${unlisted.join(', ')})`;
    expect(unlisted, advice).toEqual([]);
  });
});

describe('publishedFaults', () => {
  it.each([
    ['a check that is gone', 'A-001a\nA-001b', 'A-001b was published and there is no such check'],
    ['an id that is used again', 'A-001a withdrawn: wrong', 'A-001a was withdrawn and is used again'],
    ['an id twice', 'A-001a\nA-001a', 'A-001a is listed twice'],
  ])('finds %s', (_name, text, fault) => {
    expect(publishedFaults(readIds(text), [check('A-001a')]).join('; ')).toContain(fault);
  });

  it('accepts a withdrawn id without a check, and a check that is not in the list yet', () => {
    const published = readIds('# a comment\nA-001a\nA-001b withdrawn: it judged two rules at once\n');
    expect(publishedFaults(published, [check('A-001a'), check('A-001c')])).toEqual([]);
    expect(unlistedIds(published, [check('A-001a'), check('A-001c')])).toEqual(['A-001c']);
  });
});

describe('writtenIds', () => {
  it('adds missing ids and keeps the others', () => {
    const published = readIds('A-001b withdrawn: why not\nA-001c');
    const text = writtenIds(published, [check('A-001c'), check('A-001a')]);
    expect(readIds(text)).toEqual([{ id: 'A-001a' }, ...published]);
    expect(writtenIds(readIds(text), [])).toBe(text);
  });

  it('refuses a line that is not an id', () => {
    expect(() => readIds('A-001a # why')).toThrow('"A-001a # why" is neither an id');
  });
});
