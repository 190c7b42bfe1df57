// An error of the system is printed as one sentence with advice, and a fault of the runner with its stack trace.
import { describe, expect, it } from 'vitest';
import { endingText, SystemFault, systemFaultText } from './system-fault.ts';

function refusal(code: string, syscall = 'write', path?: string): Error {
  const known = path === undefined ? {} : { path };
  return Object.assign(new Error(`${code}: as the system says it`), { code, syscall, ...known });
}

describe('systemFaultText', () => {
  it.each([
    [refusal('ENOSPC'), 'the disk is full (ENOSPC); free some space, or choose another path'],
    [
      refusal('EACCES', 'open'),
      'permission is denied (EACCES); change the permissions, or choose another path',
    ],
    [refusal('ENOENT', 'open'), 'the folder does not exist (ENOENT); create it, or choose another path'],
    [refusal('ENOENT', 'mkdir'), 'no folder can be created there (ENOENT); choose another path'],
    [refusal('EWHATEVER'), 'EWHATEVER: as the system says it'],
    [new Error('no refusal'), undefined],
    [Object.assign(new Error('of a library'), { code: 'ERR_INVALID_ARG_TYPE' }), undefined],
    ['a text', undefined],
  ])('%s', (error, text) => {
    expect(systemFaultText(error)).toBe(text);
  });
});

describe('endingText', () => {
  it('is one sentence if the system refused an operation', () => {
    expect(endingText(refusal('ENOSPC', 'write', '/a/file'))).toBe(
      '/a/file: the disk is full (ENOSPC); free some space, or choose another path',
    );
    expect(endingText(new SystemFault('no room'))).toBe('no room');
  });

  it('is the stack trace of any other error', () => {
    expect(endingText(new TypeError('a fault of the runner'))).toMatch(/^TypeError: a fault.*\n +at /);
    expect(endingText('a text')).toBe('a text');
  });
});
