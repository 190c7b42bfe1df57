// One side of the gate, in a process of its own: loads its service as the parent orders, one order at a time, and answers each with a figure or
// a fault. Ends with the parent.
import { Load, LoadFault, type LoadShape, type PassFigure, type Service } from './load.ts';

export type PassOrder = LoadShape & { readonly turnCount: number };

export type SideAnswer =
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'figure' } & PassFigure)
  | { readonly kind: 'fault'; readonly text: string };

/** Serves orders until the parent ends. All orders have the shape of the first. */
export function serveOrders(service: Service): void {
  let load: Promise<Load> | undefined;
  process.on('message', (order: PassOrder) => {
    load ??= Load.begin(service, { ...order, queue: 'gate' });
    void answerTo(load, order).then(tell);
  });
  process.on('disconnect', () => process.exit());
  tell({ kind: 'ready' });
}

async function answerTo(load: Promise<Load>, { turnCount }: PassOrder): Promise<SideAnswer> {
  try {
    return { kind: 'figure', ...(await (await load).pass(turnCount)) };
  } catch (error) {
    if (!(error instanceof LoadFault)) throw error;
    return { kind: 'fault', text: error.message };
  }
}

function tell(answer: SideAnswer): void {
  process.send?.(answer);
}
