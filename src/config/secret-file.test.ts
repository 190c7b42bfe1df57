// Files that contain one secret: which bytes they may have.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSecretFile } from './secret-file.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-secret-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(content: string | Buffer) {
  const path = join(folder, 'secret');
  writeFileSync(path, content);
  return readSecretFile(path);
}

it('is read without one line break at its end, and without the mark that some editors put first', () => {
  expect(read('s\u00e9same\r\n')).toEqual({ ok: true, text: 's\u00e9same' });
  expect(read('\ufeffsesame\n\n')).toEqual({ ok: true, text: 'sesame\n' });
  expect(read('\ufeff\n')).toEqual({ ok: false, reason: 'is empty' });
});

it.each([
  ['random bytes', Buffer.from([0x61, 0xff, 0xfe, 0x62])],
  ['UTF-16', Buffer.from('\ufeffsesame', 'utf16le')],
  ['UTF-16 without its mark', Buffer.from('sesame', 'utf16le')],
])('is refused when it holds %s: others would be the same secret', (_, bytes) => {
  expect(read(bytes)).toEqual({ ok: false, reason: expect.stringMatching(/^is not UTF-8; /) });
});
