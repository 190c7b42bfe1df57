// The strict command line: what it accepts, and its messages about what it refuses.

import { describe, expect, it } from 'vitest';
import { type ArgumentsShape, parseArguments, parseChoice, parseCount, UsageError } from './arguments.ts';

const shape: ArgumentsShape = {
  flags: { port: 'text', header: 'texts', verbose: 'switch' },
  positionals: ['QUEUE', 'JSON?'],
};

describe('parseArguments', () => {
  it('takes flags in both forms, lists, switches and positionals in any order', () => {
    const given = parseArguments(
      ['--port', '1', 'q', '--header=a=b', '--verbose', '--header', 'c=d', '{}'],
      shape,
    );
    expect(given).toEqual({
      texts: new Map([['port', '1']]),
      lists: new Map([['header', ['a=b', 'c=d']]]),
      switches: new Set(['verbose']),
      positionals: ['q', '{}'],
    });
  });

  it('refuses the name of a queue that no frame can carry, before anything is sent', () => {
    const name = 'ä'.repeat(32_768);
    expect(() => parseArguments([name], shape)).toThrow(
      new UsageError('QUEUE: came 65536 bytes; allowed are at most 65535'),
    );
    expect(parseArguments([name.slice(1), 'ä'.repeat(40_000)], shape).positionals).toHaveLength(2);
  });

  it('takes a switch any number of times', () => {
    expect(parseArguments(['q', '--verbose', '--verbose'], shape).switches).toEqual(new Set(['verbose']));
  });

  it('takes values and positionals that start with a dash where that is clear', () => {
    expect(parseArguments(['--port=-1', '--', 'q', '-5'], shape)).toMatchObject({ positionals: ['q', '-5'] });
    expect(parseArguments(['q', '--port', '-5'], shape).texts.get('port')).toBe('-5');
  });

  it('asks for no positionals beside --help', () => {
    expect(parseArguments(['-h'], shape).switches).toEqual(new Set(['help']));
  });

  it.each([
    [['q', '--prot', '1'], '--prot: no such flag; did you mean --port?'],
    [['q', '--nonsense'], '--nonsense: no such flag'],
    [['q', '--constructor', '1'], '--constructor: no such flag'],
    [['q', '-5'], '-5: no such flag; put -- before an argument that starts with a dash'],
    [['q', '--port'], '--port: needs a value'],
    [['q', '--port', '--verbose'], '--port: needs a value'],
    [['q', '--port=1', '--port', '2'], '--port: given more than once; give it one value'],
    [['q', '--port', '1', '--port', '1'], '--port: given more than once; give it one value'],
    [['q', '--header', 'a=\ud800'], '"a=\\ud800": has half of a surrogate pair, which UTF-8 cannot carry'],
    [['q', '--verbose=yes'], '--verbose: takes no value, came "yes"'],
    [[], 'QUEUE is missing'],
    [['q', '1', 'x'], '"x": one argument too many'],
  ])('refuses %j: %s [CONFIG-002]', (argv, message) => {
    expect(() => parseArguments(argv, shape)).toThrow(new UsageError(message));
  });
});

describe('parseCount', () => {
  it('takes whole numbers from the minimum on', () => {
    expect(parseCount('count', '3', 1)).toBe(3);
    for (const text of ['0', '-1', '1.5', 'x', '', '99999999999999999999']) {
      expect(() => parseCount('count', text, 1), text).toThrow('allowed is a whole number from 1 on');
    }
  });
});

describe('parseChoice', () => {
  it('takes a name in any case, and proposes the nearest one', () => {
    expect(parseChoice('mode', 'fanoutwithack', ['RoundRobin', 'FanOutWithAck'])).toBe('FanOutWithAck');
    expect(() => parseChoice('mode', 'RoundRobbin', ['RoundRobin', 'FanOutWithAck'])).toThrow(
      new UsageError(
        '--mode: came "RoundRobbin"; allowed is RoundRobin, FanOutWithAck; did you mean RoundRobin?',
      ),
    );
  });
});
