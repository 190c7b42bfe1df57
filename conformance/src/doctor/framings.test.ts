// Each way of framing reads what it writes, and none but the right one reads a right frame as an answer.
import { expect, it } from 'vitest';
import { Command } from '../wire/command.ts';
import { encodeBody, encodeFrame } from '../wire/encode.ts';
import { answerIn, rightFraming, wrongFramings } from './framings.ts';

const fields = { command: Command.ConnectAck, id: 'doctor-1', headers: { serverVersion: '1' } };
const body = encodeBody(fields);

it.each([rightFraming, ...wrongFramings])(
  'a length prefix that $title is read as it is written',
  (framing) => {
    const bytes = framing.encode(body);
    expect(answerIn(bytes, framing)?.id).toBe('doctor-1');
    for (let end = 0; end < bytes.length; end += 1)
      expect(answerIn(bytes.subarray(0, end), framing)).toBeUndefined();
  },
);

it('tells the right frame from every other', () => {
  expect(rightFraming.encode(body)).toEqual(encodeFrame(fields));
  for (const framing of wrongFramings) {
    expect(answerIn(encodeFrame(fields), framing), framing.title).toBeUndefined();
    expect(answerIn(framing.encode(body), rightFraming), framing.title).toBeUndefined();
  }
});
