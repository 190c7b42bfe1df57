// Purge and delete. Both say what they will do to which queue, and report what was done; delete wants the name typed.

import { useState } from 'preact/hooks';
import type { Answer } from '../api/api.ts';
import type { QueueRow } from '../live/queue-row.ts';
import { queuesPlace } from '../url-state.ts';
import { countOf } from '../words/format.ts';
import { ConfirmDialog } from './dialog.tsx';
import { usePage } from './page-context.ts';

type RowProps = { readonly row: QueueRow };
type CloseProps = RowProps & { readonly onClose: () => void };

export function QueueActions({ row }: RowProps) {
  const [open, setOpen] = useState<'purge' | 'delete'>();
  const close = () => setOpen(undefined);
  return (
    <div class="actions">
      <button type="button" onClick={() => setOpen('purge')} disabled={row.waitingCount === 0}>
        Purge …
      </button>
      <button type="button" class="danger" onClick={() => setOpen('delete')}>
        Delete …
      </button>
      {open === 'purge' && <PurgeDialog row={row} onClose={close} />}
      {open === 'delete' && <DeleteDialog row={row} onClose={close} />}
    </div>
  );
}

function PurgeDialog({ row, onClose }: CloseProps) {
  const { api, notices } = usePage();
  const { name } = row.facts;
  const [{ waitingCount }] = useState(row);
  const messages = countOf(waitingCount, 'message');
  const purge = async () => {
    const answer = await api.purgeQueue(name);
    report(
      notices,
      answer,
      `Queue ${name} is purged: all messages that waited are removed.`,
      `Queue ${name} was not purged.`,
    );
    if (answer.isOk) document.getElementById('refresh')?.click();
  };
  return (
    <ConfirmDialog
      title={`Purge queue ${name}?`}
      confirmLabel={`Purge ${name}`}
      onConfirm={purge}
      onClose={onClose}
    >
      <p>
        All messages that wait in <b class="break">{name}</b> are removed, now {messages}. This cannot be
        undone.
      </p>
      <InFlightNote row={row} />
    </ConfirmDialog>
  );
}

function InFlightNote({ row }: RowProps) {
  if (row.inFlightCount === 0) return null;
  return <p>{countOf(row.inFlightCount, 'message')} in flight stay with their subscribers.</p>;
}

function DeleteDialog({ row, onClose }: CloseProps) {
  const { api, notices, navigation } = usePage();
  const { name } = row.facts;
  const messages = countOf(row.waitingCount + row.inFlightCount, 'message');
  const remove = async () => {
    const answer = await api.deleteQueue(name);
    report(notices, answer, `Queue ${name} is deleted, with ${messages}.`, `Queue ${name} was not deleted.`);
    if (answer.isOk) navigation.go(queuesPlace);
  };
  return (
    <ConfirmDialog
      title={`Delete queue ${name}?`}
      confirmLabel={`Delete ${name}`}
      typedName={name}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        The queue <b class="break">{name}</b> and its {messages} are deleted, those in flight too.
        {row.subscriberCount > 0 && ` ${countOf(row.subscriberCount, 'subscriber')} will be unsubscribed.`}{' '}
        This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}

type Reports = { readonly done: (text: string) => void; readonly failed: (text: string) => void };

/** Reports what was done, or what was not and why. */
export function report(notices: Reports, answer: Answer<unknown>, done: string, failed: string): void {
  if (answer.isOk) notices.done(done);
  else notices.failed(`${failed} ${answer.problem.title}: ${answer.problem.detail}`);
}
