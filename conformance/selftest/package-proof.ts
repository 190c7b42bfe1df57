// Tests the package alone: packs it, installs it without a network into an empty folder outside the repository, and uses it there. If it
// needs a file of the repository at run time, the test fails.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case } from '../src/selftest/proof.ts';

/** The expected result of one command of the installed package. */
type Use = {
  readonly args: readonly string[];
  readonly exitCode: number;
  readonly says: readonly string[];
};

const uses: readonly Use[] = [
  { args: ['--help'], exitCode: 0, says: ['truemq-conformance run --target FILE', 'Exit codes of run'] },
  { args: ['list', '--only', 'CONN-011'], exitCode: 0, says: ['CONN-011a'] },
  { args: ['explain', 'FRAME-004a'], exitCode: 0, says: ['FRAME-004 (MUST)', 'fails, as it must, when'] },
  {
    args: ['run', '--target', 'tiny.json', '--only', 'FRAME-015b'],
    exitCode: 0,
    says: ['tiny is CONFORMANT'],
  },
  { args: ['run', '--target', 'nothing.json'], exitCode: 2, says: ['nothing.json cannot be read'] },
  {
    args: ['bench', '--target', 'skeleton', '--job', 'throughput', '--duration', '0.2', '--reps', '1'],
    exitCode: 0,
    says: ['1024 B'],
  },
  {
    args: ['selftest'],
    exitCode: 0,
    says: ['the codec reads', 'the accountant finds', 'no check passes on 8 null brokers'],
  },
];

/** Takes as long as the null brokers, because `npm test` runs every check against them here. */
export function packageCases(root: string): readonly Case[] {
  const place = mkdtempSync(join(tmpdir(), 'truemq-conformance-package-'));
  try {
    const archive = packed(join(root, 'conformance'), join(place, 'packing'));
    const home = join(place, 'home');
    install(archive, home);
    layTarget(join(root, 'conformance/src/testing/tiny-broker.mjs'), home);
    return [dependencyCase(home), linkCase(home), ...uses.map((use) => useCase(use, home))];
  } catch (error) {
    return [{ title: 'package: it is packed and installed', faults: [(error as Error).message] }];
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Builds the package in a folder of its own and packs the files of its manifest. Does not change the build of the repository. */
function packed(source: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const entries = readdirSync(source).filter((name) => name !== 'node_modules' && name !== 'dist');
  for (const name of entries) cpSync(join(source, name), join(folder, name), { recursive: true });
  succeed(process.execPath, [join(source, 'build.mjs'), '--out', join(folder, 'dist')], source);
  succeed('npm', ['pack', '--ignore-scripts', '--offline', '--silent'], folder);
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (archive === undefined) throw new Error('npm pack left no archive');
  return join(folder, archive);
}

function install(archive: string, home: string): void {
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"private":true}\n');
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund', '--silent'];
  succeed('npm', ['install', archive, ...quiet], home);
}

function layTarget(broker: string, home: string): void {
  writeFileSync(join(home, 'tiny-broker.mjs'), readFileSync(broker));
  const lifecycle = { kind: 'spawn', command: [process.execPath, 'tiny-broker.mjs'] };
  writeFileSync(join(home, 'tiny.json'), JSON.stringify({ schema: 1, name: 'tiny', lifecycle }));
}

function dependencyCase(home: string): Case {
  const installed = readdirSync(join(home, 'node_modules')).filter((name) => !name.startsWith('.'));
  const title = 'package: it installs no other package';
  return { title, faults: installed.length === 1 ? [] : [`installed: ${installed.join(', ')}`] };
}

/** The package contains the targets of all links in its pages. */
function linkCase(home: string): Case {
  const folder = join(home, 'node_modules/truemq-conformance');
  const pages = readdirSync(join(folder, 'docs')).map((name) => `docs/${name}`);
  const broken = ['README.md', ...pages.filter((name) => name.endsWith('.md'))].flatMap((page) =>
    [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !existsSync(join(folder, page, '..', link)))
      .map((link) => `${page} links ${link}`),
  );
  return { title: 'package: its pages link only to files in it', faults: broken };
}

function useCase({ args, exitCode, says }: Use, home: string): Case {
  const ran = run('npx', ['--offline', 'truemq-conformance', ...args], home);
  const wrong = ran.exitCode === exitCode ? [] : [`exit code ${ran.exitCode}, not ${exitCode}: ${ran.text}`];
  const missing = says.filter((text) => !ran.text.includes(text)).map((text) => `it does not say "${text}"`);
  return { title: `package: ${args.join(' ')}`, faults: [...wrong, ...missing] };
}

function succeed(program: string, args: readonly string[], cwd: string): void {
  const { exitCode, text } = run(program, args, cwd);
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${exitCode}: ${text}`);
}

function run(
  program: string,
  args: readonly string[],
  cwd: string,
): { readonly exitCode: number | null; readonly text: string } {
  // On Windows npm is a command file, which needs a shell.
  const shell = process.platform === 'win32';
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, shell, encoding: 'utf8' });
  return { exitCode: status, text: error === undefined ? `${stdout}${stderr}` : error.message };
}
