// Composes authentication from the configuration: token, user store, password checks, admin commands. Provides the superuser before anybody
// can connect. Implements AUTH-013, AUTH-055 and AUTH-059 by what it passes on.

import { stat } from 'node:fs/promises';
import type { Authenticator } from '../auth/authenticator.ts';
import { costOf } from '../auth/bcrypt-hash.ts';
import { BcryptThreads } from '../auth/bcrypt-threads.ts';
import { ConfiguredAuthenticator } from '../auth/configured-authenticator.ts';
import { MemoryUserStore } from '../auth/memory-user-store.ts';
import { PasswordChecks } from '../auth/password-checks.ts';
import { StoredUserAdministration } from '../auth/stored-user-administration.ts';
import { provideSuperuser } from '../auth/superuser.ts';
import type { UserAdministration } from '../auth/user-administration.ts';
import type { UserStore } from '../auth/user-store.ts';
import type { Configuration } from '../config/configuration.ts';
import { systemEnvironment } from '../gateway/system-environment.ts';
import { throttledLogger } from '../gateway/throttled-logger.ts';
import type { Logger } from '../model/logger.ts';
import { endAll } from './end-all.ts';

/** Users that are forgotten when the broker stops. */
const IN_MEMORY = ':memory:';

export type Authentication = {
  /** Absent: clients need no credentials. */
  readonly authenticator?: Authenticator;
  /** Absent: authorization is off. */
  readonly administration?: UserAdministration;
  close(): Promise<void>;
};

export type AuthenticationTools = {
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  readonly tellOperator: TellOperator;
};

/** Shows a text to whoever starts the broker. It may hold a password, so it must not go to the log. Resolves when it is shown. */
export type TellOperator = (text: string) => void | Promise<void>;

/** Rejects with UserStoreError, or with the failure of `tellOperator`; nothing is open then. */
export async function createAuthentication(
  configuration: Configuration,
  tools: AuthenticationTools,
): Promise<Authentication> {
  const { enableAuthentication, authToken, authDatabasePath } = configuration;
  if (!enableAuthentication) return { close: async () => undefined };
  // Clients cause the lines of the authenticator.
  const logger = throttledLogger(tools.logger, systemEnvironment.clock);
  const token = authToken === '' ? {} : { token: authToken };
  if (authDatabasePath === '') {
    return { authenticator: new ConfiguredAuthenticator({ ...token, logger }), close: async () => undefined };
  }
  const store = await openStore(authDatabasePath, logger);
  const hashing = new BcryptThreads();
  const close = () => endAll([() => hashing.close(), () => store.close()]);
  try {
    await provide({ configuration, store, hashing, tools });
    const checks = passwordChecks({ configuration, store, hashing, tools });
    const authenticator = new ConfiguredAuthenticator({ ...token, users: { store, checks }, logger });
    const administration = new StoredUserAdministration({ store, checks, wallNow: tools.wallNow, logger });
    return { authenticator, administration, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Parts = {
  readonly configuration: Configuration;
  readonly store: UserStore;
  readonly hashing: BcryptThreads;
  readonly tools: AuthenticationTools;
};

async function openStore(path: string, logger: Logger): Promise<UserStore> {
  if (path === IN_MEMORY) return new MemoryUserStore();
  // Loaded on demand: a broker without users does not need it.
  const { openUserStore } = await import('../storage/sqlite/user-store.ts');
  const store = await openUserStore(path);
  const { mode } = await stat(path);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    logger.warn('other users of this machine may read or change the user database; chmod 600 prevents it', {
      path,
    });
  }
  return store;
}

async function provide({ configuration, store, hashing, tools }: Parts): Promise<void> {
  const { superuserUsername: username, superuserPassword: password, authDatabasePath: path } = configuration;
  const outcome = await provideSuperuser({
    username,
    ...(password === '' ? {} : { password }),
    store,
    path,
    hashing,
    cost: configuration.passwordCost,
    nowSeconds: Math.floor(tools.wallNow() / 1_000),
  });
  switch (outcome.kind) {
    case 'exists':
      return;
    case 'created':
      return tools.logger.info('created the superuser', { username });
    case 'generated':
      return tellPassword(tools, { username, password: outcome.password, store });
    case 'differs':
      return tools.logger.warn(
        'the superuser has another password than the configured one, which is not used',
        { username },
      );
  }
}

/** Rejects with the failure of `tellOperator`. There is no such user then: nobody would know the password. */
async function tellPassword(
  { tellOperator }: AuthenticationTools,
  { username, password, store }: { username: string; password: string; store: UserStore },
): Promise<void> {
  try {
    await tellOperator(
      `truemq: created the superuser ${username} with the password ${password}\n` +
        'truemq: this password is shown only now; only its hash is kept\n',
    );
  } catch (error) {
    store.delete(username);
    throw error;
  }
}

function passwordChecks({ configuration, store, hashing, tools }: Parts): PasswordChecks {
  const { passwordCost, authConcurrency } = configuration;
  const users = store.list();
  const costs = users.flatMap(({ passwordHash }) => costOf(passwordHash) ?? []);
  for (const { username, passwordHash } of users) {
    if (costOf(passwordHash) !== undefined) continue;
    tools.logger.warn('no password fits the hash of this user; change its password', { username });
  }
  return new PasswordChecks({
    hashing,
    cost: passwordCost,
    refusalCost: costs.reduce((most, cost) => Math.max(most, cost), passwordCost),
    maxParallelChecks: authConcurrency,
  });
}
