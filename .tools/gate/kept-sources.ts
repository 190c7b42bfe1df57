// The sources of the kept commit, from the history, so that the broker of that commit can be measured on the machine that judges. A clone without
// history does not have them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';

/** What the broker as a side of the gate is bundled from. */
const paths = ['src', 'conformance', '.tools/gate', 'package.json'];

/** Unpacks the sources into `folder`, which is emptied before. False, and no folder, if the history of `root` does not have the commit. */
export function unpackSources(root: string, commit: string, folder: string): boolean {
  rmSync(folder, { recursive: true, force: true });
  if (!hasCommit(root, commit)) return false;
  mkdirSync(folder, { recursive: true });
  const archive = `${folder}/sources.tar`;
  git(root, ['archive', '--format=tar', '-o', archive, commit, '--', ...paths]);
  execFileSync('tar', ['-xf', archive, '-C', folder]);
  rmSync(archive);
  return true;
}

/** The commit that the sources are of. Throws if they are not committed: nobody could get them again. */
export function committedSources(root: string): string {
  const changed = git(root, ['status', '--porcelain', '--', ...paths, ':!.tools/gate/kept.json']);
  if (changed !== '')
    throw new Error(`commit these first, because the kept file names a commit:\n${changed}`);
  return git(root, ['rev-parse', '--short=12', 'HEAD']).trim();
}

/** Also false without git, or outside of a repository. */
function hasCommit(root: string, commit: string): boolean {
  try {
    git(root, ['cat-file', '-e', `${commit}^{commit}`]);
    return true;
  } catch {
    return false;
  }
}

function git(root: string, args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
