// The process of a hostile client: `hostile-client.ts ATTACK PORT SCALE`. Prints a line when the attack is in full swing, and at SIGTERM what
// it has done. It has the lowest priority, and at full strength, which is measured, it runs only when nobody else wants to, where the system can
// do that: on another machine it would take no processor time from the broker and the workload. Not so an attack that judges times itself.

import { spawnSync } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { attackNames, attackOf } from './attacks.ts';
import { HostileSockets } from './hostile-socket.ts';

const [, , name, port, scale = '1'] = process.argv;
const attackName = attackNames.find((one) => one === name);
if (attackName === undefined) throw new Error(`${name} is no attack: ${attackNames.join(', ')}`);

const attack = attackOf(attackName);
if (attack.judgesTimes === undefined) {
  setPriority(constants.priority.PRIORITY_LOW);
  if (Number(scale) === 1) spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(process.pid)]);
}
const swing = { hasBegun: false };
const sockets = new HostileSockets(Number(port));
/** Says so once. */
const begun = (): void => {
  if (swing.hasBegun) return;
  swing.hasBegun = true;
  console.log('begun');
};
process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(sockets.deeds)}\n`, () => process.exit(0));
});
await attack.run(sockets, { scale: Number(scale), begun });
