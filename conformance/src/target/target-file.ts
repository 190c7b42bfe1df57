// Reads a target file (JSON or YAML) and checks it against the published schema. A wrong file is a usage error that lists all faults, each
// with its key, its value and what is allowed. It starts nothing.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Document } from 'yaml';
import { parseDocument } from 'yaml';
import schema from '../../schemas/target.schema.json' with { type: 'json' };
import type { Capability, ProfileName } from '../catalogue-words.ts';
import type { LimitSettings, RateLimitSettings, TimingSettings } from '../configuration.ts';
import { UsageError } from '../usage-error.ts';
import type { Schema } from './schema-check.ts';
import { schemaFaults } from './schema-check.ts';

export type SpawnLifecycle = {
  readonly kind: 'spawn';
  readonly command: readonly string[];
  /** Absolute after reading. */
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
};
export type AttachLifecycle = { readonly kind: 'attach' };
export type HooksLifecycle = {
  readonly kind: 'hooks';
  readonly start: string;
  readonly stop: string;
  readonly crash?: string;
  readonly reset?: string;
  /** Absolute after reading. */
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Settings, or groups of them such as `timing`, that the start hook honours. */
  readonly honours?: readonly string[];
};

/** Whose certificates the runner accepts when it connects with TLS: those of the system's authorities, unless told otherwise. */
export type TlsTrust = {
  /** The authorities to trust, as PEM; relative to the target file. */
  readonly caFile?: string;
  /** The content of that file, after reading. */
  readonly ca?: string;
  /** False: any certificate. */
  readonly verify?: boolean;
  /** A certificate for any host, if the authority is trusted. */
  readonly anyName?: boolean;
};

export type Endpoints = {
  /** `tls`: the runner connects with TLS. */
  readonly tcp: { readonly host: string; readonly port: number; readonly tls?: TlsTrust };
  readonly health?: { readonly url: string };
  readonly dashboard?: { readonly url: string };
};

export type TargetLimits = LimitSettings & RateLimitSettings & { readonly subscriberWindow?: number };

export type Target = {
  readonly schema: 1;
  readonly name: string;
  readonly version?: string;
  readonly url?: string;
  readonly lifecycle: SpawnLifecycle | AttachLifecycle | HooksLifecycle;
  readonly endpoints?: Endpoints;
  readonly profiles?: readonly ProfileName[];
  readonly capabilities?: readonly Capability[];
  readonly timing?: TimingSettings;
  readonly limits?: TargetLimits;
  readonly redactions?: readonly string[];
};

/** Reads the file; throws a UsageError that lists every fault. */
export function readTarget(path: string): Target {
  const target = withCa(parseTarget(readText(path), path), path);
  if (target.lifecycle.kind === 'attach') return target;
  const cwd = resolve(dirname(path), target.lifecycle.cwd ?? '.');
  return { ...target, lifecycle: { ...target.lifecycle, cwd } };
}

/** The target with the content of its CA file; throws a UsageError if the file cannot be read. */
function withCa(target: Target, path: string): Target {
  const { endpoints } = target;
  const tls = endpoints?.tcp.tls;
  if (endpoints === undefined || tls?.caFile === undefined) return target;
  try {
    const ca = readFileSync(resolve(dirname(path), tls.caFile), 'utf8');
    return { ...target, endpoints: { ...endpoints, tcp: { ...endpoints.tcp, tls: { ...tls, ca } } } };
  } catch (error) {
    const fault = `endpoints.tcp.tls.caFile: ${(error as Error).message}`;
    throw new UsageError(faultList(path, [fault]));
  }
}

/** `path` is only for messages. */
export function parseTarget(text: string, path: string): Target {
  const document = parseDocument(text);
  const syntax = document.errors.map((error) => error.message);
  if (syntax.length > 0) throw new UsageError(faultList(path, syntax));
  const value = contentOf(document, path);
  const faults = [...schemaFaults(schema as Schema, value), ...ruleFaults(value), ...patternFaults(value)];
  if (faults.length > 0) throw new UsageError(faultList(path, faults));
  return value as Target;
}

/** An alias can name an anchor that is not there. */
function contentOf(document: Document.Parsed, path: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new UsageError(faultList(path, [(error as Error).message]));
  }
}

/** Rules between keys: the messages of a schema would not help here. */
function ruleFaults(value: unknown): readonly string[] {
  const target = value as { lifecycle?: { kind?: unknown }; endpoints?: unknown } | null;
  const kind = target?.lifecycle?.kind;
  const faults: string[] = [];
  if ((kind === 'attach' || kind === 'hooks') && target?.endpoints === undefined) {
    faults.push(`endpoints is missing: lifecycle.kind "${kind}" needs endpoints.tcp with host and port`);
  }
  if (kind === 'spawn' && target?.endpoints !== undefined) {
    faults.push('endpoints: not allowed with lifecycle.kind "spawn", the adapter reports them');
  }
  return faults;
}

/** The redactions that are not regular expressions. */
function patternFaults(value: unknown): readonly string[] {
  const { redactions } = (value ?? {}) as { redactions?: unknown };
  const patterns: readonly unknown[] = Array.isArray(redactions) ? redactions : [];
  return patterns.flatMap((pattern, index) => {
    try {
      if (typeof pattern === 'string') new RegExp(pattern, 'g');
      return [];
    } catch (error) {
      const { message } = error as Error;
      return [
        `redactions[${index}]: ${JSON.stringify(pattern)} came, allowed: a regular expression (${message})`,
      ];
    }
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`target file ${path} cannot be read: ${(error as Error).message}`);
  }
}

function faultList(path: string, faults: readonly string[]): string {
  return [`target file ${path} is not valid:`, ...faults.map((fault) => `  ${fault}`)].join('\n');
}
