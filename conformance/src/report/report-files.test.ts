// Files of reports: whole or not at all, on disks that are full and in folders that are none.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendFault, GrowingFile, prepareFault, writeFault } from './report-files.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'truemq-conformance-test-'));
const full = (): never => {
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
};

describe('a report', () => {
  it('takes the place of an older one when it is complete', () => {
    const path = join(folder(), 'deep', 'report.json');
    expect(writeFault({ path, text: 'old' })).toBeUndefined();
    expect(writeFault({ path, text: 'new' })).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(join(path, '..'))).toEqual(['report.json']);
  });

  it('leaves nothing half written when the disk is full', () => {
    const path = join(folder(), 'report.json');
    const halfWritten = (
      beside: Parameters<typeof writeFileSync>[0],
      text: Parameters<typeof writeFileSync>[1],
    ): void => {
      writeFileSync(beside, String(text).slice(0, 2));
      full();
    };
    expect(writeFault({ path, text: 'a report' }, halfWritten)).toBe(
      `${path} could not be written: ENOSPC: no space left on device`,
    );
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('is told when its folder is a file, or its path a folder', () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    const inside = join(file, 'report.json');
    expect(prepareFault(inside)).toContain('report.json could not be written');
    expect(writeFault({ path: inside, text: '' })).toContain('report.json could not be written');
    expect(appendFault({ path: inside, text: '' })).toContain('report.json could not be written');
    const taken = join(folder(), 'taken');
    mkdirSync(taken);
    expect(prepareFault(taken)).toContain('taken could not be written');
  });

  it('is taken away before a run, and its folder made', () => {
    const path = join(folder(), 'a', 'b', 'report.json');
    expect(prepareFault(path)).toBeUndefined();
    writeFileSync(path, 'old');
    expect(prepareFault(path)).toBeUndefined();
    expect(existsSync(path)).toBe(false);
  });
});

describe('a file that grows', () => {
  it('has each line as soon as it was added', () => {
    const path = join(folder(), 'logs', 'events.ndjson');
    const file = new GrowingFile(path);
    file.open();
    file.add('one\n');
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    file.add('two\n');
    file.close();
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect(file.fault).toBeUndefined();
  });

  it('keeps the first fault to the end, and writes nothing behind a gap', () => {
    const path = join(folder(), 'events.ndjson');
    let roomCount = 1;
    const file = new GrowingFile(path, (descriptor, text) => {
      roomCount -= 1;
      if (roomCount < 0) full();
      writeFileSync(descriptor, text);
    });
    file.open();
    file.add('one\n');
    file.add('two\n');
    roomCount = 9;
    file.add('three\n');
    file.close();
    expect(file.fault).toBe(`${path} could not be written: ENOSPC: no space left on device`);
    expect(readFileSync(path, 'utf8')).toBe('one\n');
  });

  it('tells at once when it cannot be opened', () => {
    const taken = folder();
    const file = new GrowingFile(taken);
    file.open();
    file.add('lost\n');
    file.close();
    expect(file.fault).toContain('could not be written');
  });
});
