// Who may use an HTTP server that asks for the credentials of a superuser, sent by HTTP Basic (RFC 7617). A browser sends them with every
// request, and a password takes a quarter of a second on purpose: credentials that were right once are right for a while, as long as no user
// changes. Whoever guesses passwords leaves a trace in the log. Knows nothing of HTTP servers.

import { createHash } from 'node:crypto';
import type { Logger } from '../model/logger.ts';
import type { Authenticator } from './authenticator.ts';
import type { UserAdministration, UserChange } from './user-administration.ts';

/** How long credentials are remembered that were right. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 100;

/** `missing`: no credentials, or not by Basic. `wrong`: no such user, or another password. `forbidden`: the user is no superuser. */
export type BasicVerdict = 'allowed' | 'missing' | 'wrong' | 'forbidden' | 'busy' | 'failed';

export type BasicAccessParts = {
  readonly authenticator: Authenticator;
  readonly administration: Pick<UserAdministration, 'onChange'>;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
  /** Lets nobody flood it: whoever reaches the server can cause a line with each request. */
  readonly logger: Pick<Logger, 'info'>;
};

type Watcher = { readonly username: string | undefined; readonly onLoss: () => void };

export class BasicAccess {
  readonly #parts: BasicAccessParts;
  readonly #watchers = new Set<Watcher>();
  /** When the credentials are to be checked again, by the digest of the header. */
  readonly #remembered = new Map<string, number>();

  constructor(parts: BasicAccessParts) {
    this.#parts = parts;
    parts.administration.onChange((change) => {
      this.#remembered.clear();
      this.#tellWatchers(change);
    });
  }

  /** `authorization`: the header of that name. `address`: of the client, as for `Authenticator.check`. Never rejects. */
  async judge(authorization: string | null, address: string): Promise<BasicVerdict> {
    const credentials = credentialsIn(authorization);
    if (credentials === undefined) return 'missing';
    const digest = createHash('sha256').update(String(authorization)).digest('base64');
    if (this.#isRemembered(digest)) return 'allowed';
    const { signal } = new AbortController();
    const outcome = await this.#parts.authenticator.check(credentials, address, signal);
    if (outcome.kind === 'refused') {
      // Why a password could not be checked at all has a line of its own, of the authenticator.
      if (outcome.code !== 'SERVER_ERROR') this.#logRefusal(outcome.code, address);
      return refusals[outcome.code];
    }
    if (outcome.principal?.isSuperuser !== true) {
      this.#logRefusal('NOT_AUTHORIZED', address);
      return 'forbidden';
    }
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(digest, this.#parts.now() + REMEMBERED_MS);
    return 'allowed';
  }

  /**
   * For an answer that goes on. Calls `onLoss` once when the user of these credentials may have lost access: the password was changed, the user
   * was deleted, or is no superuser any more. `onLoss` must not throw. Returns what stops that.
   */
  watch(authorization: string | null, onLoss: () => void): () => void {
    const watcher: Watcher = { username: credentialsIn(authorization)?.username, onLoss };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  #tellWatchers(change: UserChange): void {
    if (change.kind === 'rights' && change.principal.isSuperuser) return;
    const username = change.kind === 'rights' ? change.principal.username : change.username;
    for (const watcher of this.#watchers) {
      if (watcher.username !== username) continue;
      this.#watchers.delete(watcher);
      watcher.onLoss();
    }
  }

  /** Without the name: some people type their password there. */
  #logRefusal(code: string, address: string): void {
    this.#parts.logger.info('a login to the dashboard was refused', { address, code });
  }

  #isRemembered(digest: string): boolean {
    const until = this.#remembered.get(digest);
    return until !== undefined && this.#parts.now() < until;
  }
}

const refusals = {
  AUTH_REQUIRED: 'missing',
  AUTH_FAILED: 'wrong',
  RATE_LIMITED: 'busy',
  SERVER_ERROR: 'failed',
} as const;

function credentialsIn(authorization: string | null) {
  const [, encoded] = /^basic +([\w+/]+=*) *$/i.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
