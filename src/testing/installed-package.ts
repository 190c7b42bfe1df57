// The package as `npm install truemq` would give it, in a folder of its own, and programs that use it there.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');

type Manifest = { readonly dependencies: Readonly<Record<string, string>> };

export type ProgramResult = { readonly code: number | null; readonly output: string };

/** Puts the package as it was built last, and its dependencies, into `folder`/node_modules. The broker must be built. */
export async function installPackage(folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, 'truemq'), { recursive: true });
  await cp(join(root, 'package.json'), join(modules, 'truemq/package.json'));
  await cp(join(root, 'dist'), join(modules, 'truemq/dist'), { recursive: true });
  const { dependencies }: Manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), '@types', 'undici-types'])
    await symlink(join(root, 'node_modules', name), join(modules, name));
}

/** Runs Node with these arguments in `folder`; resolves with its exit code and all its output. */
export async function runNode(folder: string, ...args: readonly string[]): Promise<ProgramResult> {
  const child = spawn(process.execPath, args, { cwd: folder, env: environmentOfUsers() });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

/** Checks a TypeScript file of `folder` as the strict project of a user would. */
export function checkTypes(folder: string, file: string): Promise<ProgramResult> {
  // The compiler's own libraries need no check, and take a third of its time.
  const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipDefaultLibCheck'];
  const target = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--target', 'es2023'];
  return runNode(folder, compiler, ...strict, ...target, '--types', 'node', file);
}

/** Without the variables by which a test runner tells its children that they are tests. */
function environmentOfUsers(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...environment } = process.env;
  return environment;
}
