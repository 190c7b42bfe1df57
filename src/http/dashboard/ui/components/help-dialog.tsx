// The keys of the page.

import { keyHelp } from '../keys.ts';
import { Dialog } from './dialog.tsx';

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <table class="keys">
        <thead class="off-screen">
          <tr>
            <th scope="col">Key</th>
            <th scope="col">What it does</th>
          </tr>
        </thead>
        <tbody>
          {keyHelp.map(([keys, meaning]) => (
            <tr key={meaning}>
              <td>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
