// Real hashes, in real threads, by both packages.

import { setImmediate as turnOfEventLoop } from 'node:timers';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { costOf, decoyHash } from './bcrypt-hash.ts';
import { BcryptThreads } from './bcrypt-threads.ts';

const opened: BcryptThreads[] = [];

function open(packages?: readonly string[]): BcryptThreads {
  const threads = new BcryptThreads(packages === undefined ? {} : { packages });
  opened.push(threads);
  return threads;
}

afterEach(async () => {
  for (const threads of opened.splice(0)) await threads.close();
});

describe.each(['@node-rs/bcrypt', 'bcryptjs'])('%s', (name) => {
  it('hashes with the cost it is given, and knows the password again [AUTH-055]', async () => {
    const threads = open([name]);
    const hash = await threads.hash('päss', 5);
    expect(costOf(hash)).toBe(5);
    expect(await threads.verify('päss', hash)).toBe(true);
    expect(await threads.verify('pass', hash)).toBe(false);
    expect(await threads.hash('päss', 5)).not.toBe(hash);
  });

  it('knows hashes of the other package and of other programs [AUTH-055]', async () => {
    const [threads, others] = [
      open([name]),
      open(['@node-rs/bcrypt', 'bcryptjs'].filter((other) => other !== name)),
    ];
    for (const password of ['x', 'x'.repeat(72), '😀'.repeat(18), 'a\0b', '\0']) {
      const hash = await others.hash(password, 4);
      for (const prefix of ['$2a$', '$2b$', '$2y$']) {
        expect(await threads.verify(password, hash.replace(/^\$2b\$/, prefix))).toBe(true);
      }
      expect(await threads.verify(`${password.slice(0, -1)}y`, hash)).toBe(false);
    }
  });

  it.each([' päss', 'päss ', 'päss\n', 'PÄSS', 'p\u0061\u0308ss'])(
    'tells %j from a password that looks alike [AUTH-006]',
    async (alike) => {
      const threads = open([name]);
      expect(await threads.verify(alike, await threads.hash('päss', 4))).toBe(false);
      expect(await threads.verify('päss', await threads.hash(alike, 4))).toBe(false);
    },
  );

  it('checks a decoy, which fits nothing [AUTH-011]', async () => {
    const threads = open([name]);
    expect(await threads.verify('', decoyHash(4))).toBe(false);
    expect(await threads.verify('password', decoyHash(4))).toBe(false);
  });
});

describe('threads', () => {
  it('leave the event loop free while a password is checked [AUTH-012]', async () => {
    const threads = open();
    let isDone = false;
    const check = threads.verify('guess', decoyHash(11)).then(() => {
      isDone = true;
    });
    let turns = 0;
    const nextTurn = promisify(turnOfEventLoop);
    while (!isDone) {
      await nextTurn();
      turns += 1;
    }
    await check;
    // On the event loop there would be one or two.
    expect(turns).toBeGreaterThan(20);
  });

  it('answer several calls at the same time, each its own', async () => {
    const threads = open();
    const hashes = await Promise.all(['a', 'b', 'c'].map((password) => threads.hash(password, 4)));
    const pairs = hashes.flatMap((hash) => ['a', 'b', 'c'].map((password) => threads.verify(password, hash)));
    expect(await Promise.all(pairs)).toEqual([true, false, false, false, true, false, false, false, true]);
  });

  it('use the first package that runs here, and say which', async () => {
    expect(await open(['no-such-package', 'bcryptjs']).packageName()).toBe('bcryptjs');
    expect(['@node-rs/bcrypt', 'bcryptjs']).toContain(await open().packageName());
  });

  it('say why there is none', async () => {
    await expect(open(['no-such-package']).packageName()).rejects.toThrow(
      /no package for bcrypt is installed and runs here \(no-such-package: Cannot find module/,
    );
  });

  it('pass on an error of the package, and go on', async () => {
    const threads = open(['bcryptjs']);
    await expect(threads.verify('x', decoyHash(3))).rejects.toThrow(/rounds/i);
    expect(await threads.verify('x', decoyHash(4))).toBe(false);
  });

  it('end with what they have begun when they are closed', async () => {
    const threads = open();
    const check = threads.verify('x', decoyHash(15));
    const closed = threads.close();
    await expect(check).rejects.toThrow('has ended');
    await expect(threads.verify('x', decoyHash(4))).rejects.toThrow('have ended');
    await closed;
  });
});
