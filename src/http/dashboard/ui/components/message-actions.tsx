// Select all, requeue and remove: for the selected messages of a page.

import { useRef, useState } from 'preact/hooks';
import type { Answer } from '../api/api.ts';
import { eachSentence, forEachMessage } from '../api/each-message.ts';
import { keyOf, type Message, nameInWords, nameOf } from '../api/message.ts';
import { countOf } from '../words/format.ts';
import { ConfirmDialog } from './dialog.tsx';
import { usePage } from './page-context.ts';

type MessageActionsProps = {
  readonly queue: string;
  /** Those of the page, and those of them that are selected. */
  readonly messages: readonly Message[];
  readonly chosen: readonly Message[];
  readonly onSelect: (keys: ReadonlySet<string>) => void;
  readonly actions: Actions;
};

/** What can be done with messages, one action at a time. */
export type Actions = {
  readonly isBusy: boolean;
  readonly requeue: (messages: readonly Message[]) => Promise<void>;
  readonly remove: (messages: readonly Message[]) => Promise<void>;
};

/** Called after an action, with its messages and whether it was done to all of them. */
type OnChange = (messages: readonly Message[], isDone: boolean) => void;

export function MessageActions({ queue, messages, chosen, onSelect, actions }: MessageActionsProps) {
  const [isRemoving, setRemoving] = useState(false);
  const { isBusy, requeue, remove } = actions;
  const letters = chosen.filter(({ deadLetter }) => deadLetter !== undefined);
  const hasLetters = messages.some(({ deadLetter }) => deadLetter !== undefined);
  if (messages.length === 0) return null;
  const isAll = chosen.length === messages.length;
  return (
    <div class="tools">
      <label class="select-all">
        <input
          type="checkbox"
          checked={isAll}
          onChange={() => onSelect(new Set(isAll ? [] : messages.map(keyOf)))}
        />{' '}
        Select all {messages.length} on this page
      </label>
      {hasLetters && (
        <button type="button" disabled={isBusy || letters.length === 0} onClick={() => void requeue(letters)}>
          Requeue selected
        </button>
      )}
      <button type="button" disabled={isBusy || chosen.length === 0} onClick={() => setRemoving(true)}>
        Remove selected …
      </button>
      <span class="note">{chosen.length === 0 ? '' : `${countOf(chosen.length, 'message')} selected`}</span>
      {isRemoving && (
        <RemoveDialog queue={queue} messages={chosen} remove={remove} onClose={() => setRemoving(false)} />
      )}
    </div>
  );
}

type RemoveDialogProps = {
  readonly queue: string;
  readonly messages: readonly Message[];
  readonly remove: (messages: readonly Message[]) => Promise<void>;
  readonly onClose: () => void;
};

export function RemoveDialog({ queue, messages, remove, onClose }: RemoveDialogProps) {
  const [removed] = useState(messages);
  const what = countOf(removed.length, 'message');
  const only = removed.length === 1 ? removed[0] : undefined;
  return (
    <ConfirmDialog
      title={`Remove ${what} from ${queue}?`}
      confirmLabel={`Remove ${what}`}
      onConfirm={() => remove(removed)}
      onClose={onClose}
    >
      <p class="break">
        {only === undefined ? what : 'Message '}
        {only !== undefined && <bdi>{nameInWords(only)}</bdi>} will be removed from queue <b>{queue}</b>. This
        cannot be undone.
      </p>
    </ConfirmDialog>
  );
}

/** Requeues or removes messages one after the other, and reports how many. While it works, another action does nothing. */
export function useMessageActions(queue: string, onChange: OnChange): Actions {
  const { api, notices } = usePage();
  const [isBusy, setBusy] = useState(false);
  // Known at once, also to a second press before the page is drawn again.
  const isWorking = useRef(false);
  const act = async (
    messages: readonly Message[],
    verb: string,
    one: (message: Message) => Promise<Answer<unknown>>,
  ) => {
    if (isWorking.current) return;
    isWorking.current = true;
    setBusy(true);
    const result = await forEachMessage(messages, one);
    isWorking.current = false;
    setBusy(false);
    const sentence = eachSentence(messages.length, result, verb);
    if (result.problems.length === 0) notices.done(sentence);
    else notices.failed(sentence);
    onChange(messages, result.problems.length === 0);
  };
  const sourceOf = ({ deadLetter }: Message) => deadLetter?.source ?? '';
  const sources = (messages: readonly Message[]) => [...new Set(messages.map(sourceOf))].join(', ');
  return {
    isBusy,
    requeue: (messages: readonly Message[]) =>
      act(messages, `requeued to ${sources(messages)}`, (message) =>
        api.requeueMessage(queue, nameOf(message)),
      ),
    remove: (messages: readonly Message[]) =>
      act(messages, `removed from ${queue}`, (message) => api.removeMessage(queue, nameOf(message))),
  };
}
