// Requirements are found where tests and scenarios name them, and in the cases that test files share.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readNamingFiles } from './naming-files.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'truemq-naming-'));
  write(
    'src/a.test.ts',
    "import { cases } from './shared/cases.ts';\nit('reads [FRAME-001, BODY-002]', ..);",
  );
  write('src/b.programs.test.ts', "import { plain } from './plain.ts';\nit(titleOf('TTL-001'), ..);");
  write('src/shared/cases.ts', "import { more } from '../plain.ts';\ncases('waits [RETRY-001]', ..);");
  write('src/plain.ts', '// See QUEUE-001.');
  write('src/none.test.ts', "it('names nothing', ..);");
  write('features/b.feature', '@over-tcp\nFeature: B\n  @FRAME-001\n  Scenario: c\n');
  write('features/a.feature', '  @FRAME-001 @BODY-003\n  Scenario: FRAME-003 is not a tag\n');
});

afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

it('finds the files that name requirements, those of imported cases included', () => {
  const found = readNamingFiles(root).map(({ path, kind, requirements }) => [path, kind, ...requirements]);
  expect(found).toEqual([
    ['features/a.feature', 'features', 'FRAME-001', 'BODY-003'],
    ['features/b.feature', 'features-over-tcp', 'FRAME-001'],
    ['src/a.test.ts', 'unit', 'FRAME-001', 'BODY-002', 'RETRY-001'],
    ['src/b.programs.test.ts', 'programs', 'TTL-001'],
  ]);
});
