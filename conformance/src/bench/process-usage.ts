// How much processor time and memory a process and its descendants have used: a broker may be the child of its adapter. From /proc on
// Linux, to the nanosecond; from `ps` elsewhere, as exactly as that tells; undefined where neither is to be had, Windows
// above all. It looks and changes nothing.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export type Usage = {
  readonly cpuUs: number;
  readonly rssBytes: number;
  /** The most that was resident at any time; where the system tells. */
  readonly peakRssBytes?: number;
};

/** One process in a list of all. */
export type ListedProcess = {
  readonly pid: number;
  readonly parent: number;
  readonly cpuUs: number;
  readonly rssBytes: number;
};

/** Undefined when nothing can be known about it. */
export function usageOf(pid: number): Usage | undefined {
  if (process.platform === 'linux') return usageFromProc(pid);
  if (process.platform === 'win32') return undefined;
  return usageFromPs(pid);
}

/** The process and all its descendants. */
export function familyOf(
  pid: number,
  processes: readonly Pick<ListedProcess, 'pid' | 'parent'>[],
): readonly number[] {
  const children = processes.filter(({ parent }) => parent === pid);
  return [pid, ...children.flatMap((child) => familyOf(child.pid, processes))];
}

/**
 * Stops the process and all its descendants where they stand; Linux and macOS. What is returned lets the same ones go on, at once: finding
 * them takes some time.
 */
export function suspendFamily(pid: number | undefined): () => void {
  if (pid === undefined) throw new Error('the processes of this broker are not known');
  const members = familyOf(pid, process.platform === 'linux' ? procParents() : psProcesses());
  const tell = (signal: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const member of members) process.kill(member, signal);
  };
  tell('SIGSTOP');
  return () => tell('SIGCONT');
}

/** Reads the output of `ps -axo pid=,ppid=,time=,rss=`; lines that are none of it are left out. */
export function parsePs(text: string): readonly ListedProcess[] {
  return text.split('\n').flatMap((line) => {
    const [pid, parent, time = '', rssKiB] = line.trim().split(/\s+/);
    const numbers = [pid, parent, rssKiB].map(Number);
    if (numbers.some((number) => !Number.isFinite(number))) return [];
    const [id = 0, parentId = 0, kibibytes = 0] = numbers;
    return [{ pid: id, parent: parentId, cpuUs: cpuTimeUs(time), rssBytes: kibibytes * 1024 }];
  });
}

/** `[d-][hh:]mm:ss[.cc]`, in microseconds. */
function cpuTimeUs(text: string): number {
  const [clock = '0', days = '0'] = text.split('-').toReversed();
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1e6;
}

/** Empty where there is no `ps`. */
function psProcesses(): readonly ListedProcess[] {
  const { stdout, status } = spawnSync('ps', ['-axo', 'pid=,ppid=,time=,rss='], { encoding: 'utf8' });
  return status === 0 ? parsePs(stdout) : [];
}

function usageFromPs(pid: number): Usage | undefined {
  const processes = psProcesses();
  const family = new Set(familyOf(pid, processes));
  const own = processes.filter((one) => family.has(one.pid));
  return own.length === 0 ? undefined : sumOf(own);
}

function usageFromProc(pid: number): Usage | undefined {
  const own = familyOf(pid, procParents()).flatMap(procUsage);
  return own.length === 0 ? undefined : sumOf(own);
}

function sumOf(parts: readonly Usage[]): Usage {
  const sum = (pick: (usage: Usage) => number): number => parts.reduce((total, one) => total + pick(one), 0);
  const peaksKnown = parts.every(({ peakRssBytes }) => peakRssBytes !== undefined);
  return {
    cpuUs: sum(({ cpuUs }) => cpuUs),
    rssBytes: sum(({ rssBytes }) => rssBytes),
    ...(peaksKnown ? { peakRssBytes: sum(({ peakRssBytes = 0 }) => peakRssBytes) } : {}),
  };
}

function procParents(): readonly Pick<ListedProcess, 'pid' | 'parent'>[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const parent = Number(statFields(name)[1]);
      return Number.isNaN(parent) ? [] : [{ pid: Number(name), parent }];
    });
}

/** The fields after the program's name, which may itself hold blanks and brackets. */
function statFields(pid: number | string): readonly string[] {
  const text = textOf(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** None when the process is gone. */
function procUsage(pid: number): readonly Usage[] {
  const status = textOf(`/proc/${pid}/status`);
  if (status === '') return [];
  const kibibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  const rssBytes = kibibytes('VmRSS') * 1024;
  return [{ cpuUs: procCpuUs(pid), rssBytes, peakRssBytes: kibibytes('VmHWM') * 1024 }];
}

/** Threads that have ended are missing in the exact figure, so the larger of the exact and the coarse one counts. */
function procCpuUs(pid: number): number {
  const [user = 0, system = 0] = statFields(pid).slice(11, 13).map(Number);
  const ticksPerSecond = 100;
  const coarseUs = ((user + system) * 1e6) / ticksPerSecond;
  const exactUs = threadsOf(pid).reduce((sum, thread) => sum + threadCpuUs(pid, thread), 0);
  return Math.abs(exactUs - coarseUs) < 50_000 ? exactUs : Math.max(exactUs, coarseUs);
}

function threadCpuUs(pid: number, thread: string): number {
  const [nanoseconds = '0'] = textOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ');
  return Number(nanoseconds) / 1e3;
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Empty when the file is gone, as the process may be. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
