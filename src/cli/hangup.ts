// What SIGHUP means to a broker process. With TLS it asks to read the certificates again, whether or not there is a terminal. Without TLS, a
// closed terminal ends the broker in good order, as its user expects of a command; a broker without terminal goes on. Implements TLS-008.

import type { Configuration } from '../config/configuration.ts';
import type { CommandContext } from './command.ts';

/** The context in which a broker runs: SIGHUP is a stop signal in it if there is nothing to reload and a terminal to lose. */
export function contextWithHangup(
  context: CommandContext,
  { tlsEnabled }: Pick<Configuration, 'tlsEnabled'>,
): CommandContext {
  if (tlsEnabled || !context.hasTerminal) return context;
  return {
    ...context,
    onStopSignal(handle) {
      // Both the kernel and the shell send it when a terminal closes: the second one must not end the process at once.
      let hasCome = false;
      const releases = [
        context.onStopSignal(handle),
        context.onHangup(() => {
          if (!hasCome) handle('SIGHUP');
          hasCome = true;
        }),
      ];
      return () => {
        for (const release of releases) release();
      };
    },
  };
}

/** Listens for SIGHUP from its creation on, because the first one may come before the broker has started. */
export class ReloadRequests {
  /** Listens no longer. */
  readonly release: () => void;
  #reload: (() => void) | undefined;
  #isMissed = false;

  constructor({ onHangup }: CommandContext) {
    this.release = onHangup(() => {
      if (this.#reload === undefined) this.#isMissed = true;
      else this.#reload();
    });
  }

  /** Calls `reload` for each SIGHUP, and at once if one came before. */
  passTo(reload: () => void): void {
    this.#reload = reload;
    if (this.#isMissed) reload();
  }
}
