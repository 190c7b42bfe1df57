// The message that the address names: what it is, why it is a dead letter, its headers, its payload, and what can be done with it.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../api/api.ts';
import { type DeadLetter, deadLetterHeaders, type Message, type MessageName } from '../api/message.ts';
import { formattedJson } from '../json/formatted.ts';
import { messageIn, type QueuePlace, queuePlace } from '../url-state.ts';
import { formatAgo, formatInstant } from '../words/format.ts';
import { CopyButton } from './copy-button.tsx';
import { JsonView } from './json-view.tsx';
import { Link } from './link.tsx';
import { type Actions, RemoveDialog } from './message-actions.tsx';
import { useBrokerNow, usePage, useReconnected } from './page-context.ts';

type PaneProps = {
  readonly place: QueuePlace;
  /** The message, when the list has it: then it need not be asked for. */
  readonly listed: Message | undefined;
  /** The list has no message. */
  readonly isEmpty: boolean;
  readonly actions: Actions;
};

export function ReadingPane({ place, listed, isEmpty, actions }: PaneProps) {
  const { queue } = place;
  const name = messageIn(place);
  const answer = useMessage(queue, name, listed);
  const key = JSON.stringify(name);
  const pane = usePaneInView(key);
  if (name === undefined) return isEmpty ? null : <p class="pane note">Choose a message to read it.</p>;
  return (
    <article ref={pane} class="pane" aria-label={`Message ${name.id}`}>
      {answer === undefined && <p class="note">Loading message {name.id} …</p>}
      {answer?.isOk === true && (
        <MessageView key={key} queue={queue} message={answer.value} actions={actions} />
      )}
      {answer?.isOk === false && (
        <p class="problem" role="alert">
          <b>{answer.problem.title}.</b> {answer.problem.detail}
        </p>
      )}
    </article>
  );
}

/** Below the list, on a phone, the pane of a message that was just chosen comes into view. */
function usePaneInView(key: string | undefined) {
  const pane = useRef<HTMLElement>(null);
  const before = useRef(key);
  useEffect(() => {
    const element = pane.current;
    if (before.current === key || element === null) return;
    before.current = key;
    if (element.getBoundingClientRect().top > innerHeight - 160) element.scrollIntoView();
  }, [key]);
  return pane;
}

/** The message, from the list or from the broker; one that is in flight is not in the list. */
function useMessage(queue: string, name: MessageName | undefined, listed: Message | undefined) {
  const { api } = usePage();
  const [asked, setAsked] = useState<{ readonly key: string; readonly answer: Answer<Message> }>();
  const key = name && JSON.stringify(name);
  const [round, setRound] = useState(0);
  const isListed = listed !== undefined;
  const hasFailed = asked?.answer.isOk === false;
  useReconnected(
    useCallback(() => {
      if (hasFailed) setRound((count) => count + 1);
    }, [hasFailed]),
  );
  useEffect(() => {
    if (key === undefined || isListed) return undefined;
    let isCurrent = true;
    const ask = async () => {
      const answer = await api.message(queue, JSON.parse(key) as MessageName);
      if (isCurrent) setAsked({ key, answer });
    };
    if (round >= 0) void ask();
    return () => {
      isCurrent = false;
    };
  }, [api, queue, key, isListed, round]);
  if (listed !== undefined) return { isOk: true, value: listed } as const;
  return asked?.key === key ? asked?.answer : undefined;
}

type MessageViewProps = {
  readonly queue: string;
  readonly message: Message;
  readonly actions: Actions;
};

function MessageView({ queue, message, actions }: MessageViewProps) {
  const [isRemoving, setRemoving] = useState(false);
  const { isBusy, requeue, remove } = actions;
  const { id, deadLetter, headers, payload } = message;
  return (
    <>
      <div class="title">
        <h3 class="break">{id}</h3>
        <div class="actions">
          <CopyButton what="the id" text={() => id} />
          {deadLetter !== undefined && (
            <button type="button" disabled={isBusy} onClick={() => void requeue([message])}>
              Requeue
            </button>
          )}
          <button type="button" class="danger" disabled={isBusy} onClick={() => setRemoving(true)}>
            Remove …
          </button>
        </div>
      </div>
      <Facts message={message} />
      {deadLetter !== undefined && <DeadLetterFacts deadLetter={deadLetter} />}
      <Headers headers={headers.filter(([name]) => !isShownAbove(name, deadLetter))} />
      <Payload payload={payload} />
      {isRemoving && (
        <RemoveDialog queue={queue} messages={[message]} remove={remove} onClose={() => setRemoving(false)} />
      )}
    </>
  );
}

function Facts({ message }: { readonly message: Message }) {
  const { acceptedAt, attemptCount, priority, version } = message;
  return (
    <dl class="facts">
      <dt>Accepted</dt>
      <dd>
        <Ago at={acceptedAt} />
      </dd>
      <dt>Attempts</dt>
      <dd>{attemptCount}</dd>
      <dt>Priority</dt>
      <dd>{priority}</dd>
      <dt>Version</dt>
      <dd>{version}</dd>
    </dl>
  );
}

function Ago({ at }: { readonly at: number }) {
  const now = useBrokerNow();
  return <time title={formatInstant(at)}>{formatAgo(at, now)}</time>;
}

function DeadLetterFacts({ deadLetter }: { readonly deadLetter: DeadLetter }) {
  const { reason, source, attempts, at } = deadLetter;
  return (
    <>
      <h4>Dead letter</h4>
      <dl class="facts">
        <dt>Reason</dt>
        <dd>{reason}</dd>
        <dt>Source</dt>
        <dd>
          <Link to={queuePlace(source)}>{source}</Link>
        </dd>
        <dt>Attempts there</dt>
        <dd>{attempts}</dd>
        {Number.isFinite(at) && <dt>Since</dt>}
        {Number.isFinite(at) && (
          <dd>
            <Ago at={at} />
          </dd>
        )}
      </dl>
    </>
  );
}

/** The facts of a dead letter are headers too. */
function isShownAbove(name: string, deadLetter: DeadLetter | undefined): boolean {
  return deadLetter !== undefined && deadLetterHeaders.includes(name);
}

function Headers({ headers }: Pick<Message, 'headers'>) {
  return (
    <>
      <h4>Headers</h4>
      {headers.length === 0 && <p class="note">No headers.</p>}
      <dl class="facts headers">
        {headers.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
      </dl>
    </>
  );
}

function Payload({ payload }: Pick<Message, 'payload'>) {
  return (
    <>
      <div class="title">
        <h4>Payload</h4>
        {payload !== undefined && (
          <div class="actions">
            <CopyButton what="the payload" text={() => formattedJson(payload)} />
          </div>
        )}
      </div>
      {payload === undefined ? <p class="note">Published without a payload.</p> : <JsonView text={payload} />}
    </>
  );
}
