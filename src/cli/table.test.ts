// Tables for people: their columns, and texts that a terminal would not show as they are.

import { expect, it } from 'vitest';
import { tableOf } from './table.ts';

it('has columns as wide as their widest cells on a terminal, and lines without spaces at their ends', () => {
  expect(
    tableOf(
      ['NAME', 'N'],
      [
        ['\u6f22\u5b57\u6f22', '1'],
        ['a', '22'],
        ['e\u0301', ''],
      ],
    ),
  ).toBe('NAME    N\n\u6f22\u5b57\u6f22  1\na       22\ne\u0301\n');
});

it('shows what a terminal would obey as escapes', () => {
  expect(tableOf(['PATTERN', 'N'], [['a\x1b[2J\n*', '1']])).toBe('PATTERN      N\na\\x1b[2J\\n*  1\n');
});
