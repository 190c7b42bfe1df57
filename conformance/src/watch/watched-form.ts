// Judges the form of single frames, whatever they answer. Pure. Areas: BODY, ERROR.
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import type { UntimedBreach } from './watched-breach.ts';

/** `mayForwardMore`: clients may have published bodies with more bytes after their headers, and the broker may have forwarded them. */
export function formBreach(frame: ReceivedFrame, mayForwardMore: boolean): UntimedBreach | undefined {
  const { version, command, errorCode, trailingByteCount } = frame;
  const broken = (clause: string, what: string, expected: string, more = ''): UntimedBreach => {
    return { clause, what, expected, actual: `${frameText(frame)}${more}` };
  };
  if (version !== 1)
    return broken('BODY-013', 'each frame has version 1', 'version 1', `, version ${version}`);
  if (command === Command.Error && errorCode === '')
    return broken('ERROR-002', 'an Error has a code', 'a code that is not empty');
  if (trailingByteCount === 0 || (command === Command.Deliver && mayForwardMore)) return undefined;
  const more = `, ${trailingByteCount} bytes more`;
  return broken('BODY-001', 'a body ends with its last field', 'no byte after the last field', more);
}
