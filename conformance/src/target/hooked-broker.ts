// A broker that shell commands start and stop, at the addresses in the target file. The start command may run as long as the broker, or
// return after the start. In the second case the broker is not a child process, and only a connection shows whether it runs. The
// commands get their settings in environment variables. See docs/targets.md.
import { spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { ConfigurationRequest, NeutralConfiguration } from '../configuration.ts';
import { fillConfiguration } from '../configuration.ts';
import { PrerequisiteMissing } from '../expectation.ts';
import type { Timing } from '../timing.ts';
import { atExit } from './at-exit.ts';
import type { Broker } from './broker.ts';
import type { BrokerExit } from './broker-process.ts';
import { makeDataDirectory, removeDataDirectory } from './data-directory.ts';
import { hookEnvironment, listenAddresses } from './hook-environment.ts';
import { unreachableReason, waitForEndNotice, waitForListener } from './listening.ts';
import { LogTail } from './log-tail.ts';
import { ProcessGroup } from './process-group.ts';
import { TargetFault } from './target-fault.ts';
import type { Endpoints, HooksLifecycle } from './target-file.ts';

export type HookName = 'start' | 'stop' | 'crash' | 'reset';

/** Resets and starts the broker, with a data directory of its own. Throws a TargetFault. */
export async function hookedBroker(
  lifecycle: HooksLifecycle,
  endpoints: Endpoints,
  setting: { readonly request: ConfigurationRequest; readonly timing: Timing },
): Promise<Broker> {
  const dataDirectory = makeDataDirectory();
  const configuration = {
    ...fillConfiguration(setting.request, dataDirectory),
    ...listenAddresses(endpoints),
  };
  const broker = new HookedBroker(lifecycle, endpoints, { configuration, timing: setting.timing });
  try {
    await broker.reset();
    await broker.start();
    return broker;
  } catch (error) {
    // The fault of the start says more than what the stop hook says of a broker that has not started.
    await broker.dispose().catch((fault: unknown) => broker.log.add(`(runner) ${String(fault)}`));
    throw error;
  }
}

/** One start of the broker: its command, and how that ended. */
type Life = {
  readonly command: ProcessGroup;
  readonly exit: Promise<BrokerExit>;
  readonly end: (exit: BrokerExit) => void;
  ended: BrokerExit | undefined;
  endWanted: boolean;
  /** The address could be reached since the start. */
  wasReached: boolean;
};

class HookedBroker implements Broker {
  readonly endpoints: Endpoints;
  readonly identity = undefined;
  /** Settings that the hooks do not honour are known from the target file before the start, so none are reported here. */
  readonly unsupported = [];
  readonly log = new LogTail();
  readonly #lifecycle: HooksLifecycle;
  readonly #configuration: NeutralConfiguration;
  readonly #timing: Timing;
  #life: Life | undefined;
  /** Why the stop hook failed that a check had asked for, if the broker went on running. */
  #stopFault: unknown;
  #releaseAtExit: () => void = () => {};

  constructor(
    lifecycle: HooksLifecycle,
    endpoints: Endpoints,
    setting: { readonly configuration: NeutralConfiguration; readonly timing: Timing },
  ) {
    this.#lifecycle = lifecycle;
    this.endpoints = endpoints;
    this.#configuration = setting.configuration;
    this.#timing = setting.timing;
  }

  /** A start command that keeps running is the broker, or the shell around it. */
  get processId(): number | undefined {
    const command = this.#life?.command;
    return command?.ended === undefined ? command?.processId : undefined;
  }

  get unwantedEnd(): BrokerExit | undefined {
    return this.#life?.endWanted === true ? undefined : this.#life?.ended;
  }

  get stopFault(): unknown {
    return this.#stopFault;
  }

  get exit(): Promise<BrokerExit> {
    return this.#running.exit;
  }

  async findUnwantedEnd(): Promise<BrokerExit | undefined> {
    const life = this.#running;
    await waitForEndNotice(life.exit);
    const fault = await unreachableReason(this.endpoints.tcp, this.#timing.connectMs);
    if (fault !== undefined) life.end(life.command.ended ?? { code: null, signal: null, fault });
    return this.unwantedEnd;
  }

  /** Runs the reset hook, which removes the data of an earlier instance; does nothing if the target has no reset hook. */
  async reset(): Promise<void> {
    if (this.#lifecycle.reset !== undefined) await this.#runHook('reset', this.#lifecycle.reset);
  }

  async start(): Promise<void> {
    await this.#mustBeFree();
    this.#releaseAtExit();
    let started: Life | undefined;
    // Actions run in reverse order: first the start command is killed, then the hook stops what remains.
    this.#releaseAtExit = atExit(() => this.#endAtExit(started));
    const life = this.#startLife();
    started = life;
    this.#life = life;
    const { host, port } = this.endpoints.tcp;
    life.wasReached = await waitForListener('open', this.endpoints.tcp, {
      withinMs: this.#timing.startMs,
      until: () => startFailed(life.command.ended),
    });
    if (life.wasReached) return this.#waitForSurfaces();
    const { ended } = life.command;
    const reason = startFailed(ended)
      ? `it ended with ${howText(ended)}`
      : `${host}:${port} cannot be reached after ${this.#timing.startMs} ms`;
    throw new TargetFault('hook failed', `the start hook failed: ${reason}${this.log.endText}`);
  }

  /** The HTTP servers may open a little later. The checks judge whether they do. */
  async #waitForSurfaces(): Promise<void> {
    const { health, dashboard } = this.#configuration;
    const named = [health, dashboard].filter(({ port }) => port !== 0);
    const withinMs = this.#timing.connectMs;
    await Promise.all(named.map((address) => waitForListener('open', address, { withinMs })));
  }

  terminate(): void {
    void this.#stop(this.#endWanted());
  }

  async crash(): Promise<void> {
    const { crash } = this.#lifecycle;
    if (crash === undefined && this.#running.command.ended !== undefined) {
      throw new PrerequisiteMissing('the target has no crash hook, and its start hook does not stay');
    }
    const life = this.#endWanted();
    if (crash === undefined) life.command.kill();
    else await this.#runHook('crash', crash);
    await this.#mustShut(life, 'crash');
  }

  async startSecond(): Promise<void> {
    throw new PrerequisiteMissing('hooks start one broker at fixed addresses, and no second one beside it');
  }

  get dataDirectory(): string {
    return this.#configuration.dataDirectory;
  }

  /** Throws a TargetFault, after everything is cleaned up, if a hook that stops it failed or a process still listens after it. */
  async dispose(): Promise<void> {
    const life = this.#life;
    // After the first stop, another broker may use the port.
    this.#life = undefined;
    const fault = life === undefined ? undefined : await this.#endForGood(life);
    this.#releaseAtExit();
    removeDataDirectory(this.#configuration.dataDirectory);
    const told = fault ?? this.#stopFault;
    this.#stopFault = undefined;
    if (told !== undefined) throw told;
  }

  get #running(): Life {
    if (this.#life === undefined) throw new Error('the broker was not started');
    return this.#life;
  }

  #startLife(): Life {
    const command = this.#spawn('start', this.#lifecycle.start);
    let end: Life['end'] = () => {};
    const exit = new Promise<BrokerExit>((resolve) => {
      end = (how) => {
        life.ended ??= how;
        resolve(life.ended);
      };
    });
    const life: Life = {
      command,
      exit,
      ended: undefined,
      endWanted: false,
      wasReached: false,
      end: (how) => end(how),
    };
    void command.exit.then((how) => this.#handleCommandEnd(life, how));
    return life;
  }

  /** The broker ends with its start command, unless the command only started it. */
  async #handleCommandEnd(life: Life, how: BrokerExit): Promise<void> {
    const onlyStarts = how.code === 0 && (!life.wasReached || (await this.#isOpen()));
    if (!onlyStarts) life.end(how);
  }

  #endWanted(): Life {
    const life = this.#running;
    life.endWanted = true;
    return life;
  }

  /** The end of a broker that is not a child process: its stop hook has returned, and its port is closed. The exit code is not known. */
  async #stop(life: Life): Promise<void> {
    const hookFault = await faultOf(this.#runHook('stop', this.#lifecycle.stop));
    if (life.ended === undefined) this.#stopFault = hookFault;
    // Also after a hook that failed: the broker may be about to end, and then nothing is lost.
    const shutFault = await faultOf(this.#mustShut(life, 'stop'));
    if (shutFault === undefined) this.#stopFault = undefined;
    for (const fault of [hookFault, shutFault])
      if (fault !== undefined) this.log.add(`(runner) ${String(fault)}`);
  }

  async #mustShut(life: Life, hook: HookName): Promise<void> {
    await this.#waitUntilShut(hook);
    life.end(await this.#howEnded(life));
  }

  /** Throws a TargetFault. */
  async #waitUntilShut(hook: HookName): Promise<void> {
    const isShut = await waitForListener('shut', this.endpoints.tcp, { withinMs: this.#timing.stopMs });
    const { host, port } = this.endpoints.tcp;
    if (!isShut)
      throw new TargetFault(
        'hook failed',
        `the ${hook} hook returned, but a process still listens at ${host}:${port}`,
      );
  }

  /** The exit of a start command that keeps running; the port may close before it. */
  async #howEnded({ command }: Life): Promise<BrokerExit> {
    return command.ended === undefined ? command.exit : { code: null, signal: null };
  }

  async #mustBeFree(): Promise<void> {
    const { host, port } = this.endpoints.tcp;
    if (await waitForListener('shut', this.endpoints.tcp, { withinMs: this.#timing.connectMs })) return;
    const message = `a process already listens at ${host}:${port} before the start hook runs; stop it, or attach to it`;
    throw new TargetFault('occupied', message);
  }

  /** Stops it in an orderly way, and kills it if that fails. Returns why it failed. */
  async #endForGood(life: Life): Promise<unknown> {
    life.endWanted = true;
    const fault = life.ended === undefined ? await this.#endFault() : undefined;
    if (life.command.ended === undefined || (await this.#isOpen())) life.command.kill();
    await life.command.exit;
    life.end(life.command.ended ?? { code: null, signal: null });
    return fault;
  }

  /** Runs the hook that ends the broker soonest. A hook may fail where there is no broker any more. */
  async #endFault(): Promise<unknown> {
    const { crash, stop } = this.#lifecycle;
    const name = crash === undefined ? 'stop' : 'crash';
    const wasOpen = await this.#isOpen();
    // Also after a hook that failed: the broker may be about to end.
    const hookFault = await faultOf(this.#runHook(name, crash ?? stop));
    const shutFault = await faultOf(this.#waitUntilShut(name));
    return wasOpen ? (hookFault ?? shutFault) : undefined;
  }

  async #isOpen(): Promise<boolean> {
    return (await unreachableReason(this.endpoints.tcp, this.#timing.connectMs)) === undefined;
  }

  async #runHook(name: HookName, line: string): Promise<void> {
    const command = this.#spawn(name, line);
    // A stop may take as long as the broker waits for messages in flight.
    const longestMs = name === 'stop' ? this.#timing.stopMs * 4 : this.#timing.startMs;
    const timer = setTimeout(() => command.kill(), longestMs);
    const { code, signal, fault } = await command.exit;
    clearTimeout(timer);
    if (code === 0) return;
    const how = fault ?? howText({ code, signal });
    throw new TargetFault('hook failed', `the ${name} hook failed: ${how}${this.log.endText}`);
  }

  #spawn(name: HookName, line: string): ProcessGroup {
    const command = new ProcessGroup(
      {
        program: line,
        args: [],
        shell: true,
        cwd: this.#lifecycle.cwd,
        environment: this.#environment(name),
        children: 'stay',
      },
      this.log,
    );
    createInterface({ input: command.stdout }).on('line', (text) => this.log.add(text));
    return command;
  }

  #environment(name: HookName): Readonly<Record<string, string>> {
    return { ...this.#lifecycle.environment, ...hookEnvironment(name, this.#configuration) };
  }

  /** The runner exits, so it cannot wait. That may be while the broker is disposed of: the hook that stops it is killed then. */
  #endAtExit(life: Life | undefined): void {
    const { crash, stop, cwd } = this.#lifecycle;
    if (life === undefined || life.ended !== undefined) return;
    const environment = this.#environment(crash === undefined ? 'stop' : 'crash');
    spawnSync(crash ?? stop, {
      shell: true,
      cwd,
      env: { ...process.env, ...environment },
      timeout: 5000,
      stdio: 'ignore',
    });
    life.command.kill();
  }
}

async function faultOf(step: Promise<void>): Promise<unknown> {
  try {
    await step;
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A command with exit code 0 may have started a broker; any other exit means that it did not. */
function startFailed(ended: BrokerExit | undefined): ended is BrokerExit {
  return ended !== undefined && ended.code !== 0;
}

function howText({ code, signal, fault }: BrokerExit): string {
  return fault ?? (signal === null ? `exit code ${code}` : `signal ${signal}`);
}
