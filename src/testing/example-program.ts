// Runs the programs of docs/examples as their readers would: against the installed package, in a process of their own.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { installPackage } from './installed-package.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const examples = join(root, 'docs/examples');

/** Of a strict project. Errors in the declarations of other packages are not reported. */
const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  erasableSyntaxOnly: true,
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  skipLibCheck: true,
};

/** The file names of all examples. */
export async function exampleNames(): Promise<readonly string[]> {
  return (await readdir(examples)).filter((name) => name.endsWith('.ts')).sort();
}

/** Puts the examples, the package and what they import into the folder. */
export async function installExamples(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await installPackage(folder);
  for (const name of ['tsx', 'typescript', 'vitest'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  for (const name of await exampleNames()) await copyFile(join(examples, name), join(folder, name));
}

/** An example that runs. Its output is read by lines. */
export class ExampleProgram {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #lines: AsyncIterator<string>;
  readonly #code: Promise<number | null>;
  #errors = '';

  constructor(folder: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', ...args], {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#code = once(this.#child, 'close').then(([code]) => code as number | null);
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
  }

  /** The next line of the standard output. @throws Error with the standard error when the program has ended */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`The program has ended. ${this.#errors}`);
    return value;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** All remaining lines, when the program has ended. @throws Error when it failed or wrote to the standard error */
  async finish(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (let next = await this.#lines.next(); next.done !== true; next = await this.#lines.next())
      lines.push(next.value);
    const code = await this.#code;
    if (code !== 0 || this.#errors !== '')
      throw new Error(`The program ended with code ${code}. ${this.#errors}`);
    return lines;
  }
}
