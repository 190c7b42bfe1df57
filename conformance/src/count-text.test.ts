// The noun agrees with its number.
import { expect, it } from 'vitest';
import { countText } from './count-text.ts';

it.each([
  [countText(0, 'byte'), '0 bytes'],
  [countText(1, 'byte'), '1 byte'],
  [countText(2, 'byte'), '2 bytes'],
  [countText(1, 'entry', 'entries'), '1 entry'],
  [countText(3, 'entry', 'entries'), '3 entries'],
])('writes %s', (text, expected) => {
  expect(text).toBe(expected);
});
