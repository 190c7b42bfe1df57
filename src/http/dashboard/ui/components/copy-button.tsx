// Copies a text, and says whether it did.

import { useEffect, useState } from 'preact/hooks';
import { copyText } from '../browser.ts';

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

/** A command that can be copied. */
export function Command({ text }: { readonly text: string }) {
  return (
    <p class="command">
      <code>{text}</code>
      <CopyButton what="the command" text={() => text} />
    </p>
  );
}
