// Copies a text, and says whether it did.

import { useEffect, useState } from 'preact/hooks';
import { copyText } from '../browser.ts';
import { pubCommand } from '../words/pub-command.ts';
import { useStore } from './page-context.ts';

/** How long the button says what it did. */
const SAYING_MS = 2000;

type CopyButtonProps = {
  /** What is copied, for screen readers. */
  readonly what: string;
  readonly text: () => string;
};

export function CopyButton({ what, text }: CopyButtonProps) {
  const [result, setResult] = useState<'Copied' | 'Not copied'>();
  useEffect(() => {
    if (result === undefined) return undefined;
    const timer = setTimeout(() => setResult(undefined), SAYING_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => setResult((await copyText(text())) ? 'Copied' : 'Not copied');
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`${result ?? 'Copy'} ${what}`}
      onClick={() => void copy()}
    >
      {result ?? 'Copy'}
    </button>
  );
}

/** The command that publishes a message to the queue, to be copied. */
export function PubCommand({ queue }: { readonly queue: string }) {
  const { facts } = useStore('health');
  const text = pubCommand(queue, facts?.tcp);
  return (
    <p class="command">
      <code>{text}</code>
      <CopyButton what="the command" text={() => text} />
    </p>
  );
}
