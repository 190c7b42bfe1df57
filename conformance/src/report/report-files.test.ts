// Files of reports: whole or not at all, on disks that are full and in folders that are none; symbolic links and pipes stay.
import { execFileSync } from 'node:child_process';
import {
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import {
  appendableFault,
  appendFault,
  folderFault,
  GrowingFile,
  prepareFault,
  writableFault,
  writeFault,
} from './report-files.ts';

const full = (): never => {
  throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
};
const fullText = 'the disk is full (ENOSPC); free some space, or choose another path';

/** A pipe in a folder of its own, and what came through it when it is asked for. */
function pipe(): { readonly path: string; readonly read: () => string } {
  const path = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { path, read: () => readFileSync(reader, 'utf8') };
}

describe('a report', () => {
  it('takes the place of an older one when it is complete', () => {
    const path = join(temporaryFolder(), 'deep', 'report.json');
    expect(writeFault({ path, text: 'old' })).toBeUndefined();
    expect(writeFault({ path, text: 'new' })).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(join(path, '..'))).toEqual(['report.json']);
  });

  it('leaves nothing half written when the disk is full', () => {
    const path = join(temporaryFolder(), 'report.json');
    const halfWritten = (
      beside: Parameters<typeof writeFileSync>[0],
      text: Parameters<typeof writeFileSync>[1],
    ): void => {
      writeFileSync(beside, String(text).slice(0, 2));
      full();
    };
    expect(writeFault({ path, text: 'a report' }, halfWritten)).toBe(
      `${path} could not be written: ${fullText}`,
    );
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('is told when its folder is a file, or its path a folder', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const inside = join(file, 'report.json');
    for (const fault of [prepareFault, writableFault, appendableFault, folderFault])
      expect(fault(inside)).toContain('report.json cannot be written: a part of the path is a file');
    expect(writeFault({ path: inside, text: '' })).toContain('report.json could not be written');
    expect(appendFault({ path: inside, text: '' })).toContain('report.json could not be written');
    const taken = join(temporaryFolder(), 'taken');
    mkdirSync(taken);
    expect(prepareFault(taken)).toContain('taken cannot be written: it is a folder');
    expect(appendableFault(taken)).toContain('taken cannot be written: it is a folder');
  });

  it('is taken away before a run, and its folder made', () => {
    const path = join(temporaryFolder(), 'a', 'b', 'report.json');
    expect(prepareFault(path)).toBeUndefined();
    writeFileSync(path, 'old');
    expect(prepareFault(path)).toBeUndefined();
    expect(existsSync(path)).toBe(false);
  });
});

describe('a symbolic link', () => {
  it.each(['there', 'not there yet'])('stays, and the file that it names is written: %s', (state) => {
    const place = temporaryFolder();
    const [link, file] = [join(place, 'link'), join(place, 'deep', 'report.json')];
    mkdirSync(join(place, 'deep'));
    if (state === 'there') writeFileSync(file, 'old');
    symlinkSync('deep/report.json', link);
    expect(prepareFault(link)).toBeUndefined();
    expect(existsSync(file)).toBe(false);
    expect(writeFault({ path: link, text: 'new' })).toBeUndefined();
    expect(readlinkSync(link)).toBe('deep/report.json');
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(readdirSync(join(place, 'deep'))).toEqual(['report.json']);
  });

  it('is told when it leads in a circle or nowhere', () => {
    const place = temporaryFolder();
    for (const [name, target] of Object.entries({ a: 'b', b: 'a', c: 'none/report.json' }))
      symlinkSync(target, join(place, name));
    expect(prepareFault(join(place, 'a'))).toContain('its symbolic links form a circle (ELOOP)');
    expect(writeFault({ path: join(place, 'c'), text: '' })).toContain('the folder does not exist (ENOENT)');
  });
});

describe('a pipe', () => {
  it('is written through, and stays', () => {
    const { path, read } = pipe();
    expect(prepareFault(path)).toBeUndefined();
    expect(writeFault({ path, text: 'a report\n' })).toBeUndefined();
    expect(appendFault({ path, text: 'more\n' })).toBeUndefined();
    const log = new GrowingFile(path);
    log.open();
    log.add('a line\n');
    log.close();
    expect(log.fault).toBeUndefined();
    expect(read()).toBe('a report\nmore\na line\n');
    expect(lstatSync(path).isFIFO()).toBe(true);
    expect(readdirSync(dirname(path))).toEqual(['pipe']);
  });

  it('behind a symbolic link is written through too', () => {
    const { path, read } = pipe();
    const link = join(temporaryFolder(), 'link');
    symlinkSync(path, link);
    expect(writeFault({ path: link, text: 'a report\n' })).toBeUndefined();
    expect(read()).toBe('a report\n');
    expect(readlinkSync(link)).toBe(path);
  });

  it('that nobody reads is a fault: the runner does not wait for a reader', () => {
    const path = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [path]);
    expect(appendableFault(path)).toBeUndefined();
    const text = `${path} could not be written: no program reads from it (ENXIO); start the reader first`;
    expect(writeFault({ path, text: '' })).toBe(text);
    expect(lstatSync(path).isFIFO()).toBe(true);
  });
});

it('an open file of this process is added to, and not replaced', () => {
  const path = join(temporaryFolder(), 'output');
  writeFileSync(path, 'printed\n');
  const descriptor = openSync(path, 'a');
  const name = `/proc/self/fd/${descriptor}`;
  expect(prepareFault(name)).toBeUndefined();
  expect(writeFault({ path: name, text: 'a report\n' })).toBeUndefined();
  writeFileSync(descriptor, 'printed later\n');
  expect(readFileSync(path, 'utf8')).toBe('printed\na report\nprinted later\n');
});

describe('a folder', () => {
  it('is created with those above it', () => {
    const path = join(temporaryFolder(), 'a', 'b', 'c');
    expect(folderFault(path)).toBeUndefined();
    expect(readdirSync(path)).toEqual([]);
  });

  it('is told where none can be created', () => {
    const text = 'no folder can be created there (ENOENT); choose another path';
    expect(folderFault('/proc/x')).toBe(`/proc/x cannot be written: ${text}`);
    expect(writeFault({ path: '/proc/x/y/report.json', text: '' })).toContain(text);
  });
});

describe('a file that grows', () => {
  it('has each line as soon as it was added', () => {
    const path = join(temporaryFolder(), 'logs', 'events.ndjson');
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
    const path = join(temporaryFolder(), 'events.ndjson');
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
    expect(file.fault).toBe(`${path} could not be written: ${fullText}`);
    expect(readFileSync(path, 'utf8')).toBe('one\n');
  });

  it('tells at once when it cannot be opened', () => {
    const taken = temporaryFolder();
    const file = new GrowingFile(taken);
    file.open();
    file.add('lost\n');
    file.close();
    expect(file.fault).toContain('could not be written');
  });
});
