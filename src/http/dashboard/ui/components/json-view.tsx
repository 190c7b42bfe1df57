// A JSON text, formatted and collapsible. Numbers stand as they were sent. What is closed is not read, and long lists are shown in parts, so a payload of
// any size opens quickly.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { arrayElements, type JsonNode, jsonNode, objectMembers } from '../json/json-node.ts';
import { countOf, formatCount } from '../words/format.ts';

/** Levels that are open at first, and items that are shown at first and with each further request. */
const OPEN_DEPTH = 2;
const PART_SIZE = 100;
/** Longer values that are closed are shown by their number of items. */
const MAX_CLOSED_LENGTH = 80;
/** Of longer strings and numbers the beginning; the button copies them whole. */
const MAX_VALUE_LENGTH = 10_000;

export function JsonView({ text }: { readonly text: string }) {
  return (
    <div class="json" key={text}>
      <NodeView node={jsonNode(text)} depth={0} label={null} />
    </div>
  );
}

type NodeProps = { readonly node: JsonNode; readonly depth: number; readonly label: ComponentChildren };

function NodeView({ node, depth, label }: NodeProps) {
  if (node.kind === 'object' || node.kind === 'array')
    return <Container node={node} depth={depth} label={label} />;
  const isLong = node.text.length > MAX_VALUE_LENGTH;
  return (
    <div class="json-line">
      {label}
      <span class={`json-${node.kind}`}>{node.text.slice(0, MAX_VALUE_LENGTH)}</span>
      {isLong && <span class="note"> … {formatCount(node.text.length)} characters</span>}
    </div>
  );
}

function Container({ node, depth, label }: NodeProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(PART_SIZE);
  const items = itemsOf(node);
  const [open, close] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
  if (items.length === 0)
    return (
      <div class="json-line">
        {label}
        {open + close}
      </div>
    );
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        {isOpen ? open : <ClosedText node={node} count={items.length} />}
      </summary>
      {isOpen && (
        <div class="json-items">
          {items.slice(0, shown).map((item, index) => (
            <NodeView key={index} node={item.value} depth={depth + 1} label={item.label} />
          ))}
          {items.length > shown && (
            <button type="button" class="quiet" onClick={() => setShown(shown + PART_SIZE)}>
              Show more of {formatCount(items.length)}
            </button>
          )}
        </div>
      )}
      {isOpen && <div>{close}</div>}
    </details>
  );
}

/** A short value as it is, a long one by the number of its items. */
function ClosedText({ node, count }: { readonly node: JsonNode; readonly count: number }) {
  if (node.text.length <= MAX_CLOSED_LENGTH) return <span class="note">{node.text}</span>;
  const words = countOf(count, 'item');
  return <span class="note">{node.kind === 'object' ? `{ ${words} }` : `[ ${words} ]`}</span>;
}

function itemsOf(node: JsonNode): readonly { readonly value: JsonNode; readonly label: ComponentChildren }[] {
  if (node.kind === 'array') return arrayElements(node).map((value) => ({ value, label: null }));
  return objectMembers(node).map(({ key, value }) => ({
    value,
    label: <span class="json-key">{key}: </span>,
  }));
}
