// Logins with wrong passwords as fast as wanted, and right ones from another address: how long each takes, and what the broker says to it.

import { once } from 'node:events';
import { connect } from 'node:net';
import { commandName } from '../../protocol/command.ts';
import { WireClient } from '../wire-client.ts';
import { frame } from './wire-frames.ts';

export type Login = { readonly username: string; readonly password: string };

/** The user of the broker beside this attack. */
export const rightLogin: Login = { username: 'operator', password: 'right-password' };

/** The answers of one kind. */
export type LoginFigures = {
  readonly count: number;
  readonly longestMs: number;
  /** Answers that took longer than a refusal beyond the bound may. */
  readonly lateCount: number;
};

/** By the answer: `ConnectAck`, the code of an Error, or `nothing` where the connection ended without one. */
export type LoginAnswers = Record<string, LoginFigures>;

export type Logins = {
  /** Of the hostile address. */
  readonly wrong: LoginAnswers;
  /** Of the other address. */
  readonly right: LoginAnswers;
  /** Right ones that were begun, whether they were answered or not. */
  readonly rightBegunCount: number;
};

const HOSTILE_ADDRESS = '127.0.0.1';
const OTHER_ADDRESS = '127.0.0.2';

export class LoginFlood implements Logins {
  readonly wrong: LoginAnswers = {};
  readonly right: LoginAnswers = {};
  rightBegunCount = 0;
  readonly #port: number;
  readonly #onConnection: () => void;

  constructor(port: number, onConnection: () => void) {
    this.#port = port;
    this.#onConnection = onConnection;
  }

  /** Wrong logins so many times a second, and a right one each second, until the process ends. */
  begin(perSecond: number): void {
    const wrongLogin = { ...rightLogin, password: 'wrong-password' };
    setInterval(() => void this.#logIn(wrongLogin, HOSTILE_ADDRESS, this.wrong), 1000 / perSecond);
    setInterval(() => {
      this.rightBegunCount += 1;
      void this.#logIn(rightLogin, OTHER_ADDRESS, this.right);
    }, 1000);
  }

  async #logIn({ username, password }: Login, localAddress: string, answers: LoginAnswers): Promise<void> {
    const headers = [
      ['authUsername', username],
      ['authPassword', password],
    ] as const;
    const startedAt = performance.now();
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress, noDelay: true });
    socket.once('connect', this.#onConnection);
    const client = new WireClient(socket);
    client.sendRaw(frame({ command: 0, id: 'login', headers }));
    await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => undefined);
    const [first] = client.take();
    const answer = first === undefined ? 'nothing' : first.errorCode || (commandName(first.command) ?? '');
    const { count, longestMs, lateCount } = answers[answer] ?? { count: 0, longestMs: 0, lateCount: 0 };
    const tookMs = performance.now() - startedAt;
    answers[answer] = {
      count: count + 1,
      longestMs: Math.max(longestMs, tookMs),
      lateCount: lateCount + (tookMs > MAX_BUSY_REFUSAL_MS ? 1 : 0),
    };
    socket.destroy();
  }
}

const MAX_RIGHT_LOGIN_MS = 2000;
const MAX_BUSY_REFUSAL_MS = 100;

/** What an attack of several seconds must show. Times count from before the connection. */
export function loginComplaints({ wrong, right, rightBegunCount }: Logins): readonly string[] {
  const others = Object.keys(right).filter((answer) => answer !== 'ConnectAck');
  const accepted = right['ConnectAck'];
  const busy = wrong['RATE_LIMITED'];
  return [
    ...(others.length === 0 ? [] : [`right logins were answered by ${others.join(', ')}`]),
    ...(accepted !== undefined && accepted.longestMs <= MAX_RIGHT_LOGIN_MS
      ? []
      : [`right logins took ${accepted?.longestMs ?? 'for ever'} ms, over ${MAX_RIGHT_LOGIN_MS}`]),
    // Each right login, the one that the end of the attack cuts off too, makes one that waits give way, which is refused after its wait.
    ...(busy !== undefined && busy.lateCount <= rightBegunCount
      ? []
      : [`${busy?.lateCount ?? 'all'} refusals beyond the bound took over ${MAX_BUSY_REFUSAL_MS} ms`]),
    ...(wrong['ConnectAck'] === undefined ? [] : ['a wrong login was accepted']),
  ];
}
