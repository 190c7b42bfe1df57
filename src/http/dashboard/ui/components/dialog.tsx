// Dialogs: modal, closed by Escape, the focus back where it was. One for help, one that confirms what cannot be undone.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

type DialogProps = {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
};

export function Dialog({ title, children, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

type ConfirmProps = DialogProps & {
  readonly confirmLabel: string;
  /** Must be typed before it can be confirmed. */
  readonly typedName?: string;
  readonly onConfirm: () => Promise<void>;
};

export function ConfirmDialog({
  title,
  children,
  onClose,
  confirmLabel,
  typedName,
  onConfirm,
}: ConfirmProps) {
  const [typed, setTyped] = useState('');
  const [isBusy, setBusy] = useState(false);
  const isReady = !isBusy && (typedName === undefined || typed === typedName);
  const confirm = async (event: Event) => {
    event.preventDefault();
    if (!isReady) return;
    setBusy(true);
    await onConfirm();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void confirm(event)}>
        {children}
        {typedName !== undefined && <NameField name={typedName} typed={typed} onType={setTyped} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={!isReady}>
            {confirmLabel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type NameFieldProps = {
  readonly name: string;
  readonly typed: string;
  readonly onType: (text: string) => void;
};

function NameField({ name, typed, onType }: NameFieldProps) {
  return (
    <label class="field">
      <span>
        Type <code>{name}</code> to confirm
      </span>
      <input
        type="text"
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => onType(event.currentTarget.value)}
      />
    </label>
  );
}
