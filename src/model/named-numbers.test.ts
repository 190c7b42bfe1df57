// Names of numbers and numbers of names, and what is no member of a table.

import { describe, expect, it } from 'vitest';
import { nameOfNumber, numberOfName } from './named-numbers.ts';

const Direction = { Up: 0, Down: 7 } as const;

describe('a table of named numbers', () => {
  it('has a name for each number, and a number for each name', () => {
    expect([nameOfNumber(Direction, 0), nameOfNumber(Direction, 7)]).toEqual(['Up', 'Down']);
    expect([numberOfName(Direction, 'Up'), numberOfName(Direction, 'Down')]).toEqual([0, 7]);
  });

  it('refuses others with a sentence that says which there are', () => {
    expect(() => nameOfNumber<string, number>(Direction, 1)).toThrow('1 is not one of Up, Down');
    const refused = () => numberOfName(Direction, 'up' as 'Up');
    expect(refused).toThrow(new TypeError('"up" is not one of Up, Down'));
    expect(refused).toThrow(TypeError);
  });

  it('does not take what every object has for a name', () => {
    expect(() => numberOfName(Direction, 'toString' as 'Up')).toThrow(TypeError);
  });
});
